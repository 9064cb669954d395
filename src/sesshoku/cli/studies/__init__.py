"""Commands over many runs: `audit`, `check`, `sweep`; and `export` of what runs left behind."""
