"""Walking: footsteps, pattern, swing, stabiliser, step adjustment, and what a walk is measured by."""
