"""Whole-system quantities: centre of mass, momenta, energies."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import cross, inertia_times


@jit
def center_of_mass(model, data, first_link, last_link, center_out):
    """Mass-weighted centre (3, world) of links [first, last); returns the mass. Needs `kinematics`."""
    I, origin = data.inertia, data.tree_origin
    mass = 0.0
    center_out[0] = center_out[1] = center_out[2] = 0.0
    for i in range(first_link, last_link):
        t, m = model.link_tree[i], I[i, 0]
        mass += m
        for a in range(3):
            center_out[a] += I[i, 1 + a] + m * origin[t, a]
    if mass > 0.0:
        for a in range(3):
            center_out[a] /= mass
    return mass


@jit
def momentum(model, data, first_link, last_link, about, momentum_out):
    """Linear and angular momentum (6, world axes) of links [first, last) about a world point (3).

    Needs `kinematics` and `link_velocities`. Scripted links are left out: they follow no law of motion.
    """
    I, vel, origin = data.inertia, data.velocity, data.tree_origin
    for a in range(6):
        momentum_out[a] = 0.0
    for i in range(first_link, last_link):
        t = model.link_tree[i]
        px, py, pz, lx, ly, lz = inertia_times(
            I, i, vel[i, 0], vel[i, 1], vel[i, 2], vel[i, 3], vel[i, 4], vel[i, 5])
        cx, cy, cz = cross(origin[t, 0] - about[0], origin[t, 1] - about[1], origin[t, 2] - about[2], px, py, pz)
        momentum_out[0] += px
        momentum_out[1] += py
        momentum_out[2] += pz
        momentum_out[3] += lx + cx
        momentum_out[4] += ly + cy
        momentum_out[5] += lz + cz


@jit
def kinetic_energy(model, data, v):
    """Kinetic energy (J) of all links and rotors. Needs `kinematics` and `link_velocities`."""
    I, vel, armature = data.inertia, data.velocity, model.dof_armature
    energy = 0.0
    for i in range(model.link_count):
        vx, vy, vz, wx, wy, wz = vel[i, 0], vel[i, 1], vel[i, 2], vel[i, 3], vel[i, 4], vel[i, 5]
        px, py, pz, lx, ly, lz = inertia_times(I, i, vx, vy, vz, wx, wy, wz)
        energy += vx * px + vy * py + vz * pz + wx * lx + wy * ly + wz * lz
    for k in range(model.dof_count):
        energy += armature[k] * v[k] * v[k]
    return 0.5 * energy


@jit
def weight_energy(model, data):
    """Energy (J) in gravity, zero at the world's origin. Needs `kinematics`."""
    I, origin, g = data.inertia, data.tree_origin, model.gravity
    energy = 0.0
    for i in range(model.link_count):
        t, m = model.link_tree[i], I[i, 0]
        for a in range(3):
            energy -= g[a] * (I[i, 1 + a] + m * origin[t, a])
    return energy


@jit
def potential_energy(model, data, q):
    """Energy (J) in gravity, zero at the world's origin, and in joint springs. Needs `kinematics`."""
    energy = weight_energy(model, data)
    for n in range(len(model.sprung_dofs)):
        k = model.sprung_dofs[n]
        if model.dof_stiffness[k] > 0.0:
            stretch = q[model.dof_coordinate[k]] - model.dof_rest[k]
            energy += 0.5 * model.dof_stiffness[k] * stretch * stretch
    return energy
