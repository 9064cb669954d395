"""Figures and tables of the thesis behind `springs`."""
