"""What a method is made of: options, work, stages. `METHOD = Definition(...)` in a method's module."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.compiled.stepping import Stages, make_run, make_run_worlds
from sesshoku.compiled.table import Record, scalar, viewer
from sesshoku.dynamics.data import as_data
from sesshoku.model.arrays import as_model

if TYPE_CHECKING:
    from sesshoku.scene.compiler import CompiledScene


def _nothing(compiled: CompiledScene) -> list[str]:
    return []


def _never(options: Any) -> bool:
    return False


#: what a method is held to where it declares nothing else
EXPECTED: dict[str, Any] = {"friction_bound": 1.0, "passive": True, "residual": True, "finite": True, "books": True,
                            "elastic": False, "restitution": True, "contacts_per_pair": 4, "carries_any_mass": True}


@dataclass(frozen=True)
class Definition:
    """A method as its module declares it (docs/methods/writing-a-method.md has an example).

    module: its module's name. options: a frozen dataclass; its defaults are the paper's behaviour. work: the record
    class that its kernels take third. make_work(compiled, options) allocates it. stages: what a step does, or a
    function of the options where that depends on them. presets: name -> options. supports(compiled): reasons why it
    cannot carry a scene. leaves_out: what of a scene it leaves out, in words (methods/features.py has them): users are
    told, and `strict` refuses such a scene. cautions(compiled, options, work, dt): what to warn of when a simulation is
    made; finds_deep: of bodies deep inside each other too. guarantees: what the contract suite and the certificate may
    hold it to, name -> function of the options:
        friction_bound      friction over mu times the normal force, at most
        passive             contact never adds kinetic energy
        residual            its report has the residual of a contact law
        finite              bodies that turn by radians per step do not make it diverge
        books               its report has the work applied by motors, springs and gravity
        elastic             contacts may give energy back
        restitution         it knows restitution
        contacts_per_pair   contacts of a box that lies on another
        carries_any_mass    no weight drowns a body
    What is not declared is expected as EXPECTED says.
    follows_model: arrays of its work that make_work fills from masses, inertias, armature, friction, gains or gravity:
    "bodies.mass"; worlds of a batch that differ in those have their own.
    start_motion(model, data, work, start_out), leave_motion(model, data, work, start, dt): kernels of a method with
    coordinates of its own, what sensors are to take for the links' motion; start (L + 1, 18): what the first keeps.
    ends_within(options): whether a step leaves the links at a stage within it (Runge-Kutta), so that sensors have to go
    to its middle themselves. contact_polygons(work), (n, 5), and contact_springs(work), (n, 6): what a film shows
    besides points and forces, world axes: corners, number of the polygon and state; the two ends of a spring.
    """

    module: str
    options: type
    work: type[Record]
    make_work: Callable[[CompiledScene, Any], Record]
    stages: Stages | Callable[[Any], Stages]
    presets: Mapping[str, Any] = field(default_factory=dict)
    supports: Callable[[CompiledScene], list[str]] = _nothing
    leaves_out: Callable[[CompiledScene], list[str]] = _nothing
    cautions: Callable[..., Any] | None = None
    finds_deep: bool = False
    guarantees: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    follows_model: tuple[str, ...] = ()
    start_motion: Callable[..., Any] | None = None
    leave_motion: Callable[..., Any] | None = None
    ends_within: Callable[[Any], bool] = _never
    contact_polygons: Callable[[Any], np.ndarray] | None = None
    contact_springs: Callable[[Any], np.ndarray] | None = None
    _runs: dict[Stages, Any] = field(default_factory=dict, repr=False, compare=False)
    _worlds: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def guaranteed(self, what: str, options: Any) -> Any:
        """What it guarantees with these options: as declared, else what a method is expected to hold."""
        declared = self.guarantees.get(what)
        return EXPECTED[what] if declared is None else declared(options)

    def stages_of(self, options: Any) -> Stages:
        """The stages of a step with these options."""
        return self.stages if isinstance(self.stages, Stages) else self.stages(options)

    def run(self, options: Any) -> Any:
        """The compiled `run(model_table, data_table, work_table, dt, steps)` of these options; one for all that share
        their stages."""
        stages = self.stages_of(options)
        if stages not in self._runs:
            name = "_".join(["run", *(name.replace(" ", "_") for name in stages.names)]) if self._runs else "run"
            self._runs[stages] = make_run(stages, (as_model, as_data, viewer(self.work)), self.module, name)
        return self._runs[stages]

    def run_worlds(self, options: Any) -> Any:
        """The compiled loop over many worlds of these options (`compiled/stepping.py`)."""
        run = self.run(options)
        if run not in self._worlds:
            self._worlds[run] = make_run_worlds(run, self.module, f"worlds_{getattr(run, 'py_func', run).__name__}")
        return self._worlds[run]


def numbers_of(options: type) -> Any:
    """The record of a class of options, for kernels to read by name: numbers as they are, a choice among words as its
    place among them (`code_of`), None as inf."""
    kinds = typing.get_type_hints(options)
    space = {entry.name: scalar(float if _is_float(kinds[entry.name]) else int) for entry in fields(options)}
    return type("Numbers", (Record,), {"__module__": options.__module__, "__qualname__": "Numbers", **space})


def _is_float(kind: Any) -> bool:
    return kind is float or float in typing.get_args(kind)


def code_of(options: type, name: str, choice: str) -> int:
    """The number by which kernels know a choice: its place among the words of the option."""
    return typing.get_args(typing.get_type_hints(options)[name]).index(choice)


def as_numbers(record: Any, options: Any) -> Any:
    """The record of some options."""

    def number(name: str) -> Any:
        value = getattr(options, name)
        if isinstance(value, str):
            return code_of(type(options), name, value)
        return np.inf if value is None else int(value) if record.fields[name].dtype is int else float(value)

    return record(**{name: number(name) for name in record.fields})
