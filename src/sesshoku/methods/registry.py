"""keyword -> contact method. A method is a module of this package; it is imported when it is first asked for.

A method's module declares itself by one line, `METHOD = Definition(__name__, Options, Work, make_work, ...)`
(methods/definition.py says what each is), and `register(__name__)` makes the module callable:
`ss.methods.none(integrator="rk4")` is a method with options.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, fields, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from sesshoku.errors import MethodError, did_you_mean
from sesshoku.scene.calls import checked_as

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sesshoku.methods.definition import Definition
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

    @property
    def definition(self) -> Definition:
        """What its module declares: work, stages, what it can carry."""
        return cast("Definition", self.module.METHOD)

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
            known = ", ".join(field.name for field in fields(load(keyword).METHOD.options))
            raise MethodError("options are given by name", element=f"method {keyword!r}", value=given[0],
                              remedy=f"options: {known}")
        return make(keyword, options)

    def __getattr__(self, name: str) -> Method:
        """A preset: `methods.lcp.recommended`."""
        if name.startswith("_") or name not in {"recommended", *presets_of(self)}:
            raise AttributeError(f"method {self.__name__.rpartition('.')[2]!r} has no {name!r}")
        return resolve(f"{self.__name__.rpartition('.')[2]}:{name}")


def register(module_name: str) -> None:
    """Make a method known by the last part of its module's name, and the module callable:
    `methods.none(integrator="rk4")`, `methods.lcp.recommended(max_sweeps=50)`; one of your own as well."""
    keyword = module_name.rpartition(".")[2]
    if MODULES.setdefault(keyword, module_name) != module_name:
        raise MethodError("there is a method of this name", element=f"module {module_name!r}", value=keyword,
                          remedy="call the module otherwise")
    module: Any = sys.modules[module_name]
    module.run = module.METHOD.run(module.METHOD.options())  # where other processes find what they compile
    module.__class__ = _CallableModule


def presets_of(module: ModuleType) -> Mapping[str, Any]:
    """Presets of a method, by name; none while its module is still being imported."""
    definition = vars(module).get("METHOD")
    return {} if definition is None else definition.presets


@checked_as(MethodError)
def keywords() -> list[str]:
    """Every keyword and preset, e.g. ["none", "lcp", "lcp:recommended"]."""
    names = []
    for keyword in MODULES:
        names.append(keyword)
        names += [f"{keyword}:{preset}" for preset in presets_of(load(keyword))]
    return names


def load(keyword: str) -> ModuleType:
    """The module of a method."""
    if keyword not in MODULES:
        raise MethodError("no such method", element=f"method {keyword!r}",
                          remedy=did_you_mean(keyword, MODULES, also=f"methods: {', '.join(MODULES)}"))
    return importlib.import_module(MODULES[keyword])


def make(method: str | Method, options: dict[str, Any]) -> Method:
    """A method, or a preset of one, with some options changed."""
    usual = resolve(method)
    keyword = usual.keyword
    known = {field.name for field in fields(usual.options)}
    for name in options:
        if name not in known:
            raise MethodError(f"unknown option {name!r}", element=f"method {keyword!r}",
                              remedy=did_you_mean(name, sorted(known), also=f"options: {', '.join(sorted(known))}"))
    return Method(keyword, replace(usual.options, **options), usual.module)


def obstacles(method: Method, compiled: CompiledScene, strict: bool = False) -> list[str]:
    """Reasons why a method cannot carry a scene; with `strict` also what it would leave out."""
    reasons = list(method.definition.supports(compiled))
    return reasons + [f"it leaves out {item}" for item in left_out(method, compiled)] if strict else reasons


def left_out(method: Method, compiled: CompiledScene) -> list[str]:
    """What of a scene a method leaves out, in words: "rolling friction of ball"."""
    return list(method.definition.leaves_out(compiled))


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
        return Method(keyword, module.METHOD.options(), module)
    presets = presets_of(module)
    if preset == "recommended" and preset not in presets:  # what measures best is what it does by itself
        return Method(keyword, module.METHOD.options(), module)
    if preset not in presets:
        raise MethodError(f"no preset {preset!r}", element=f"method {keyword!r}",
                          remedy=f"presets: {', '.join(presets) or 'none'}")
    return Method(f"{keyword}:{preset}", presets[preset], module)
