"""Kernels for a GPU: the bitcode that a CPU runs, by another back end of LLVM.

In: stages of a method. Out: kernels on a card, one for each stage.

    tiles.py    records of many worlds, 32 side by side; words.py: numbers at bare addresses
    stages.py   a method's stages as functions of addresses and the number of a world
    ptx.py      their call graphs as PTX; loads.py: in an order that waits less for memory
    cubin.py    machine code, assembled and kept
    card.py     a card: memory, launches, recordings
"""
