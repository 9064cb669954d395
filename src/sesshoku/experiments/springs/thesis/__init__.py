"""Figures and tables of the thesis, one module each."""
