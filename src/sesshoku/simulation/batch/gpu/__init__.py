"""`Batch` on a GPU: the same worlds and names, with arrays of CuPy.

    tiles.py     the memory of worlds in tiles
    bodies.py    what a card does for them besides stepping; launches.py: what is launched in which order
    cuda.py      `CudaBatch`, what `Batch` is there; verified.py: what it refuses
"""
