"""Options of `volume`, its preset, and the array compiled code takes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sesshoku.methods.definition import code_of, numbers_of
from sesshoku.methods.options import check_options, option


@dataclass(frozen=True)
class Options:
    """Defaults are the paper's.

    integrator: semi-implicit Euler, or the paper's Runge-Kutta-Gill, with the contact solved at each of its stages.
        That closes 62 % of an error of velocity per step, at four times the cost; the equations solved are Euler's, so
        Euler meets them exactly
    depth_gain (1/s): speed of separation asked for per metre of depth. At 1000 and 1 ms a body that lands is thrown
        back by half of what it sank in a step
    depth_share: most of an overlap's depth that is asked for in a step, whatever the gain: from 4 / dt on a gain throws
        bodies apart, and a caution says so (ours; the paper's 1000 at 1 ms is a share of 0.5)
    recovery_speed (m/s): most separation speed asked for, on the average of an overlap
    rest_depth (m): depth at which nothing is asked for: bodies rest there, and one that leans a little keeps its whole
        base in the overlap
    depth_integral: what depth means: distance of each face from the contact plane, thickness, or the faces over the
        polygon only (section). Equal for prisms
    regularization: lambda, the weight of the impulse in the least squares
    regularization_unit: as it stands, in (m/s)^2 m^2/(N s)^2; or times the mean diagonal of the overlap's own A Q A,
        forces and torques apart, a hundredth of it for friction: without a unit
    friction_limit: pyramid: can forces at the corners carry the wrench? separated: the authors' previous method, force
        and torque judged apart; it accepts wrenches that no distribution has
    pyramid_sides: of the friction pyramid at every corner. Capacity between its edges, with 8: cos(π/8) = 0.924 of the
        cone
    pyramid_axis: where the pyramid's first edge lies, on which the paper is silent: along the first axis of the contact
        plane; or along the friction force that is judged, which a pure force then meets at the whole cone
    sliding_solve: the paper keeps the normal wrench found under the hypothesis of no slip; coupled: it is solved again
        with friction against the slip
    correction: what the kinetic programme maximises: components over their wanted values (the paper), whose reciprocals
        explode near zero; or nearness to the wanted wrench
    energy: as the least squares give it; bounded: where the wrenches of an island would add more than the depths ask
        for, they are scaled down together (ours; the paper is silent)
    onset: direction of friction at corners slower than `onset_speed`: none below `zero_tolerance`, or against the
        motion without contact
    onset_speed (m/s): see `onset`
    zero_tolerance (m/s): see `onset`
    """

    integrator: Literal["semi-implicit", "rkg"] = "semi-implicit"
    depth_gain: float = option(1000.0, least=0.0, most=1e9)
    depth_share: float = option(float("inf"), above=0.0, infinite=True)
    recovery_speed: float = option(1e300, least=0.0, most=1e300)
    rest_depth: float = option(0.0, least=0.0, most=1.0)
    depth_integral: Literal["faces", "thickness", "section"] = "faces"
    regularization: float = option(1e-3, least=1e-12, most=1e6)
    regularization_unit: Literal["absolute", "trace"] = "absolute"
    friction_limit: Literal["pyramid", "separated"] = "pyramid"
    pyramid_sides: int = option(8, least=3, most=360)
    pyramid_axis: Literal["plane", "force"] = "plane"
    sliding_solve: Literal["sticking", "coupled"] = "sticking"
    correction: Literal["reciprocal", "nearest"] = "reciprocal"
    energy: Literal["free", "bounded"] = "free"
    onset: Literal["none", "free"] = "none"
    onset_speed: float = option(1e-3, least=0.0, most=1e300)
    zero_tolerance: float = option(1e-12, least=0.0, most=1e300)

    def __post_init__(self) -> None:
        check_options(self, "volume")


PRESETS = {"recommended": Options(
    depth_gain=100.0, depth_share=0.2, recovery_speed=1.0, rest_depth=2e-5, regularization=1e-7,
    regularization_unit="trace", pyramid_axis="force", sliding_solve="coupled", correction="nearest",
    energy="bounded", onset="free")}

Numbers = numbers_of(Options)
RKG, BY_TRACE = code_of(Options, "integrator", "rkg"), code_of(Options, "regularization_unit", "trace")
SEPARATED, COUPLED = code_of(Options, "friction_limit", "separated"), code_of(Options, "sliding_solve", "coupled")
ALONG_FORCE = code_of(Options, "pyramid_axis", "force")
BOUNDED = code_of(Options, "energy", "bounded")
NEAREST, ONSET = code_of(Options, "correction", "nearest"), code_of(Options, "onset", "free")
