"""What pairs of bodies do at their contacts: load, slip, creep, depth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sesshoku.simulation.contacts import Contact

Pair = tuple[str, str]
GROUNDS = ("ground", "floor", "world", "table")
WITHIN = 0.99  # of its bound: below, friction holds, and Coulomb's law lets nothing slide


def pair_of(bodies: Sequence[str]) -> Pair:
    """Two bodies in an order that does not depend on the law."""
    a, b = sorted(bodies)
    return a, b


def in_words(pair: Sequence[str]) -> Pair:
    """The same, with what others stand on last."""
    a, b = sorted(pair, key=lambda name: name in GROUNDS)
    return a, b


@dataclass
class Felt:
    """What a pair felt at one instant, or on the mean.

    force: on the second body, world axes, N. normal: load, N. friction: N. slip: speed along the surface, mean by load,
    m/s. depth: m. held: share of the time (or 1 or 0) in which friction was within its bound: by Coulomb's law one
    contact at least then stands still. creep: speed of the slowest contact meanwhile, m/s.
    """

    force: np.ndarray
    normal: float
    friction: float
    slip: float
    depth: float
    held: float
    creep: float


def feel(contacts: Iterable[Contact]) -> dict[Pair, Felt]:
    """pair -> what it feels, of the pairs that carry load."""
    found: dict[Pair, list[Contact]] = {}
    for contact in contacts:
        if contact.normal_force > 0.0:
            found.setdefault(pair_of(contact.bodies), []).append(contact)
    return {pair: _felt(pair, members) for pair, members in found.items()}


def _felt(pair: Pair, contacts: list[Contact]) -> Felt:
    load = sum(contact.normal_force for contact in contacts)
    signs = [1.0 if contact.bodies == pair else -1.0 for contact in contacts]
    force = sum((sign * c.force for sign, c in zip(signs, contacts)), np.zeros(3))
    friction = sum((sign * c.friction_force for sign, c in zip(signs, contacts)), np.zeros(3))
    used = sum(float(np.linalg.norm(c.friction_force)) for c in contacts)
    held = used < WITHIN * sum(c.kinetic_friction * c.normal_force for c in contacts)
    slip = sum(c.normal_force * c.slip_speed for c in contacts) / load
    return Felt(force, load, float(np.linalg.norm(friction)), slip,
                max(c.depth for c in contacts), float(held), min(c.slip_speed for c in contacts) if held else 0.0)


@dataclass
class Touch:
    """What a pair did, summed over a run: times in s, impulse in N s; the rest weighted by load."""

    loaded: float = 0.0
    impulse: float = 0.0
    slip: float = 0.0
    depth: float = 0.0
    held: float = 0.0
    creep: float = 0.0
    slipped: float = 0.0  # m: way while friction was at its bound

    def add(self, felt: Felt, seconds: float) -> None:
        load = felt.normal * seconds
        self.loaded += seconds
        self.impulse += load
        self.slip += load * felt.slip
        self.depth += load * felt.depth
        self.held += load * felt.held
        self.creep += load * felt.creep
        self.slipped += (1.0 - felt.held) * seconds * felt.slip

    def means(self) -> dict[str, float]:
        """Speeds (m/s), depth (m) and force (N) while it carries load; creep: while friction is within its bound."""
        return {"slip": self.slip / self.impulse, "depth": self.depth / self.impulse,
                "force": self.impulse / self.loaded, "loaded": self.loaded,
                "creep": self.creep / self.held if self.held > 0.0 else 0.0}
