"""keyword -> contact method. A method is a module of this package; it is imported when it is first asked for.

The module of a method provides
    Options             a frozen dataclass of its options, defaults = the paper's behaviour
    PRESETS             (optional) preset name -> options, e.g. {"recommended": Options(...)}
    parameters(options) the float64 array compiled code takes of them
    supports(compiled)  reasons why it cannot carry a scene; empty: it can
    leaves_out(compiled)  what of a scene it leaves out, in words (`methods/features.py` has them): users are told, and
                        `strict` refuses such a scene
    make_records(compiled, options)  its records beyond model and data, by name ("contacts" is what users see), in the
                        order `run` takes them;  STATE: record name -> fields a saved state must hold
    cautions(compiled, options, records, dt)  (optional) what to warn of when a simulation is made: steps too long for
                        springs the user chose
    LINKED              (optional) the compiled entry that is worth preparing, where `run` only chooses one
    GUARANTEES          what the contract suite may hold it to: friction_bound(options), passive(options);
                        residual(options), False where its report has no residual of a contact law; finite(options),
                        False where bodies that turn by radians per step may diverge; books(options), False where its
                        report has no `applied_work`; elastic(options), True where contacts give energy back
    run(model_table, data_table, *record_tables, parameters, dt, steps) -> steps done, compiled
    stage_nothing       a stage that does nothing: `profile` subtracts what its call costs
    stages(options)     name -> compiled function (model, data, *records, parameters, dt): what `step` calls, one by one
and `register(__name__)` makes the module callable: `ss.methods.none(integrator="rk4")` is a method with options.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from dataclasses import dataclass, fields, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sesshoku.errors import MethodError
from sesshoku.scene.calls import checked_as

if TYPE_CHECKING:
    from sesshoku.scene.compiler import CompiledScene

MODULES = {name: f"sesshoku.methods.{name}" for name in (
    "none", "lcp", "exact", "multipoint", "volume", "implicit", "springs")}
DEFAULT = "exact"


@checked_as(MethodError)
@dataclass(frozen=True)
class Method:
    """A method with its options; what `Simulation` takes besides a keyword."""

    keyword: str
    options: Any
    module: ModuleType

    def __repr__(self) -> str:
        chosen = ", ".join(f"{field.name}={getattr(self.options, field.name)!r}" for field in fields(self.options))
        return f"{self.keyword}({chosen})"

    @property
    def label(self) -> str:
        """The keyword, with the options that differ from those it stands for: "lcp (max_sweeps=20)"."""
        usual = resolve(self.keyword).options
        changed = [f"{field.name}={getattr(self.options, field.name)}" for field in fields(self.options)
                   if getattr(self.options, field.name) != getattr(usual, field.name)]
        return self.keyword + (f" ({', '.join(changed)})" if changed else "")

    def __call__(self, **options: Any) -> Method:
        """The same with some options changed: `methods.lcp.recommended(max_sweeps=50)`."""
        return make(self, options)

    def __reduce__(self) -> Any:
        return (_rebuild, (self.keyword, self.options))


def _rebuild(keyword: str, options: Any) -> Method:
    return Method(keyword, options, load(keyword.partition(":")[0]))


class _CallableModule(ModuleType):
    def __call__(self, *given: Any, **options: Any) -> Method:
        keyword = self.__name__.rpartition(".")[2]
        if given:
            raise MethodError("options are given by name", element=f"method {keyword!r}", value=given[0],
                              remedy=f"options: {', '.join(field.name for field in fields(load(keyword).Options))}")
        return make(keyword, options)

    def __getattr__(self, name: str) -> Method:
        """A preset: `methods.lcp.recommended`."""
        if name.startswith("_") or name not in {"recommended", *vars(self).get("PRESETS", {})}:
            raise AttributeError(f"method {self.__name__.rpartition('.')[2]!r} has no {name!r}")
        return resolve(f"{self.__name__.rpartition('.')[2]}:{name}")


def register(module_name: str) -> None:
    """Make a method's module callable: `methods.none(integrator="rk4")`, `methods.lcp.recommended(max_sweeps=50)`."""
    sys.modules[module_name].__class__ = _CallableModule


@checked_as(MethodError)
def keywords() -> list[str]:
    """Every keyword and preset, e.g. ["none", "lcp", "lcp:recommended"]."""
    names = []
    for keyword in MODULES:
        names.append(keyword)
        names += [f"{keyword}:{preset}" for preset in getattr(load(keyword), "PRESETS", {})]
    return names


def load(keyword: str) -> ModuleType:
    """The module of a method."""
    if keyword not in MODULES:
        near = difflib.get_close_matches(str(keyword), MODULES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise MethodError("no such method", element=f"method {keyword!r}",
                          remedy=f"{hint}methods: {', '.join(MODULES)}")
    return importlib.import_module(MODULES[keyword])


def make(method: str | Method, options: dict[str, Any]) -> Method:
    """A method, or a preset of one, with some options changed."""
    usual = resolve(method)
    keyword = usual.keyword
    known = {field.name for field in fields(usual.options)}
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise MethodError(f"unknown option {name!r}", element=f"method {keyword!r}",
                              remedy=f"{hint}options: {', '.join(sorted(known))}")
    return Method(keyword, replace(usual.options, **options), usual.module)


def obstacles(method: Method, compiled: CompiledScene, strict: bool = False) -> list[str]:
    """Reasons why a method cannot carry a scene; with `strict` also what it would leave out."""
    reasons = list(method.module.supports(compiled))
    return reasons + [f"it leaves out {item}" for item in left_out(method, compiled)] if strict else reasons


def left_out(method: Method, compiled: CompiledScene) -> list[str]:
    """What of a scene a method leaves out, in words: "rolling friction of ball"."""
    return list(method.module.leaves_out(compiled))


@checked_as(MethodError)
def resolve(method: str | Method | ModuleType) -> Method:
    """A Method from a keyword ("lcp"), a keyword with a preset ("lcp:recommended"), or a Method itself.

    "recommended" is known of every method: one without presets is recommended as it is.
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, _CallableModule):
        return make(method.__name__.rpartition(".")[2], {})
    keyword, colon, preset = str(method).partition(":")
    module = load(keyword)
    if not colon:
        return Method(keyword, module.Options(), module)
    presets = getattr(module, "PRESETS", {})
    if preset == "recommended" and preset not in presets:  # what measures best is what it does by itself
        return Method(keyword, module.Options(), module)
    if preset not in presets:
        raise MethodError(f"no preset {preset!r}", element=f"method {keyword!r}",
                          remedy=f"presets: {', '.join(presets) or 'none'}")
    return Method(f"{keyword}:{preset}", presets[preset], module)
