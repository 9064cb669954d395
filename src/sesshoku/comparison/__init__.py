"""One scene under many laws: `compare` with its page and MuJoCo as a peer; `audit/`, `sweep/` over many conditions."""
