"""O(N) assembly and disassembly of articulated bodies from two-handled pieces; what `implicit` takes."""
