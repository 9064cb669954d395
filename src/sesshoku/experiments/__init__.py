"""The papers' figures and tables, one module each; `sesshoku reproduce NAME` runs them."""
