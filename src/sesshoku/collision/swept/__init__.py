"""Features of polyhedra that cross within a step: vertex and face, edge and edge; what `springs` takes."""
