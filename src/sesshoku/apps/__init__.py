"""Programs made with sesshoku: the crane game."""
