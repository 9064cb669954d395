"""UsdPhysics articulations (extra `usd`)."""
