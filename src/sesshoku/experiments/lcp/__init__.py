"""Experiments of the paper behind `lcp`, and of its digest's claims."""
