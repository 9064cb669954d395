"""Scene files of our own: TOML, checked by a schema, errors with their lines."""
