"""Measurements against peers. `python -m benchmarks` runs all and writes results/<machine>.json."""
