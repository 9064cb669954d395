"""The contract of a policy: what it observes, in which order and scale, and what its actions mean. A TOML file.

    file = "walk.onnx"                     # or .npz, .pt (TorchScript), .zip (Stable-Baselines3); beside this file
    rate = 50.0                            # Hz at which it acts; or decimation = 10 with dt = 0.002
    history = 1                            # so many observations in a row, oldest first
    clip = 100.0                           # of observations
    base = "pelvis"                        # default: the free base

    [default]                              # joint angles that positions and actions are relative to
    left_knee = 0.3

    [[observation]]
    name = "base_angular_velocity"         # in the base's axes; `observe.QUANTITIES` lists all
    scale = 0.25

    [[observation]]
    name = "joint_position"                # less the default; joints as the action has them, or joints = [...]

    [[observation]]
    name = "command"
    value = [0.5, 0.0, 0.0]

    [action]
    joints = ["left_hip", "left_knee"]     # order of the actions; default: all actuators of the model
    scale = 0.25
    offset = "default"                     # or numbers; default: 0
    clip = 1.0
    kind = "position"                      # targets of servos; "torque": forces
    kp = 40.0                              # gains of the servos: of joints without one, or with torque motors
    kd = 1.0
    effort = 23.5
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sesshoku.errors import SceneError, did_you_mean, in_file
from sesshoku.scene.io.toml.errors import parse

Numbers = float | list[float]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Observation(Part):
    """One quantity of the observation."""

    name: str
    scale: Numbers = 1.0
    clip: float | None = Field(None, gt=0.0)
    joints: list[str] | None = None
    bodies: list[str] | None = None
    body: str | None = None
    sensor: str | None = None
    value: list[float] | None = None
    period: float | None = Field(None, gt=0.0)


class Action(Part):
    """What the numbers that come out mean."""

    joints: list[str] | None = None
    scale: Numbers = 1.0
    offset: Literal["default"] | Numbers = 0.0
    clip: float | None = Field(None, gt=0.0)
    kind: Literal["position", "velocity", "torque"] = "position"
    kp: Numbers | None = None
    kd: Numbers = 0.0
    effort: Numbers | None = None


class Contract(Part):
    """All of the file."""

    file: str | None = None
    rate: float | None = Field(None, gt=0.0)
    decimation: int | None = Field(None, ge=1)
    dt: float | None = Field(None, gt=0.0)
    time: float | None = Field(None, gt=0.0)
    history: int = Field(1, ge=1)
    history_by: Literal["observation", "quantity"] = "observation"
    newest_first: bool = False
    clip: float | None = Field(None, gt=0.0)
    base: str | None = None
    robot: str | None = None
    success: str | None = None
    algorithm: str = "PPO"  # of Stable-Baselines3
    default: dict[str, float] = Field(default_factory=dict)
    observation: list[Observation] = Field(min_length=1)
    action: Action = Field(default_factory=Action)

    @model_validator(mode="after")
    def _acts(self) -> Contract:
        if (self.rate is None) == (self.decimation is None):
            raise ValueError("a policy acts at a rate (Hz), or every so many steps (decimation, with dt)")
        if self.decimation is not None and self.dt is None:
            raise ValueError("decimation counts steps of dt: say dt")
        return self

    @property
    def period(self) -> float:
        """Seconds between two actions."""
        if self.rate is not None:
            return 1.0 / self.rate
        assert self.decimation is not None and self.dt is not None
        return self.decimation * self.dt


def read_contract(path: Path) -> Contract:
    """A contract's file; what is wrong names the key."""
    if not path.is_file():
        raise SceneError("there is no such file", file=str(path),
                         remedy="a policy needs its contract beside it: observations, action, rate")
    with in_file(path):
        data: dict[str, Any] = parse(path.read_text(encoding="utf-8"))
        try:
            return Contract.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "contract"
            known = [*Contract.model_fields, *Observation.model_fields, *Action.model_fields]
            remedy = did_you_mean(where.rpartition(".")[2], known) if first["type"] == "extra_forbidden" else None
            raise SceneError(first["msg"].removeprefix("Value error, "), element=where, remedy=remedy or None) from None
