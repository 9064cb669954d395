"""Tools of the repository, not of the package: what builds its wheels."""
