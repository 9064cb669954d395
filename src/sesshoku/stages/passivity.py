"""How much of the impulses of an island may act, where all of them would bring energy."""

from __future__ import annotations

from sesshoku.compiled.jit import jit

# times the energy of all its mass at the largest speed asked for: what depth corrections of an island may bring in a
# step; impulses that cancel each other would excuse anything
MOST_WORK = 10.0


@jit
def share_within(linear, square, allowed):
    """The largest share x <= 1 of impulses with x linear + x^2 square / 2 <= x allowed."""
    if linear + 0.5 * square <= allowed or not square > 0.0:
        return 1.0
    return max(0.0, 2.0 * (allowed - linear) / square)


@jit
def correction_energy(model, dof_list, speed):
    """The kinetic energy (J) that corrections which ask for this speed (m/s) may bring to the trees of an island."""
    mass = 0.0
    for r in range(len(dof_list)):
        if dof_list[r, 1] > dof_list[r, 0]:
            t = model.link_tree[model.dof_link[dof_list[r, 0]]]
            for i in range(model.tree_link[t], model.tree_link[t + 1]):
                mass += model.link_mass[i]
    return MOST_WORK * 0.5 * mass * speed * speed
