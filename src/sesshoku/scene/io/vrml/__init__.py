"""VRML 2 shapes, which .body files name."""
