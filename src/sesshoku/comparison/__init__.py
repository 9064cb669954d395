"""Parts of `compare`: outcomes, the page, MuJoCo as a peer."""
