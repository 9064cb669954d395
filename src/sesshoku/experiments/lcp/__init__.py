"""Experiments of the paper behind `lcp`, and of claims made for it."""
