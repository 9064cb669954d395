"""Choreonoid's .body files."""
