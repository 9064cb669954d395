"""The constraint force by steepest descent on the springs' energy, over bodies in maximal coordinates."""
