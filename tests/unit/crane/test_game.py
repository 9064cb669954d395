"""The game without a screen: rules, determinism, a round that wins, methods that carry it."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from sesshoku.apps.crane.game import Game, game_method, playable
from sesshoku.apps.crane.motion import Inputs
from sesshoku.apps.crane.pilot import Pilot
from sesshoku.apps.crane.robot import FINGERS
from sesshoku.apps.crane.scene import CHUTE_HIGH, CHUTE_LOW, PRIZES, in_chute
from sesshoku.errors import MethodError, SceneError
from sesshoku.methods import registry
from sesshoku.scene.geometry.shapes import Box, Mesh
from support import FULL, SEED


def play(game: Game, prize: str, most: int = 1500) -> Pilot:
    pilot = Pilot(prize)
    for _ in range(most):
        if pilot.stage == "done":
            break
        game.step(pilot.inputs(game))
    return pilot


def test_the_scene_has_what_the_game_needs() -> None:
    scene = Game().round.scene
    assert len(FINGERS) >= 3
    for finger in FINGERS:
        for part in ("hip", "knee"):
            assert scene.joint(f"{finger}_{part}").kind == "revolute"
            assert scene.actuators[f"{finger}_{part}"].kind == "torque"
    shapes = [scene.bodies[prize.name].geometries[0].shape for prize in PRIZES]
    assert sum(isinstance(shape, Box) for shape in shapes) >= 2
    assert sum(isinstance(shape, Mesh) for shape in shapes) == 1  # the heart
    assert len({type(shape) for shape in shapes} - {Box, Mesh}) >= 2
    assert scene.bodies["crab"].kinematic


@pytest.mark.parametrize("prize", [prize.name for prize in PRIZES] if FULL else ["red_box", "heart"])
def test_a_round_by_keys_wins_the_prize_in_real_time(prize: str) -> None:
    game = Game(method="springs", dt=1 / 50)
    pilot = play(game, prize)
    assert pilot.stage == "done" and game.state.won == (prize,)
    assert game.state.score == next(entry.points for entry in PRIZES if entry.name == prize)
    assert game.state.phase == "playing" and not game.state.trouble
    position = game.sim.bodies[prize].position
    assert in_chute(position) and (position[:2] > CHUTE_LOW).all() and (position[:2] < CHUTE_HIGH).all()


def test_hurrying_loses_what_gentle_motion_keeps() -> None:
    """The same box, carried to and fro: gently it stays, with shift it is gone."""
    kept = {}
    for hurry in (False, True):
        game, pilot = Game(), Pilot("red_box")
        while pilot.stage != "carry":
            game.step(pilot.inputs(game))
        for n in range(100):
            game.step(Inputs(x=1.0 if n // 25 % 2 == 0 else -1.0, grab=True, hurry=hurry))
        kept[hurry] = game.sim.bodies["red_box"].position[2] > 1.0
    assert kept == {False: True, True: False}


def test_the_same_inputs_give_the_same_round_bit_for_bit() -> None:
    rng = np.random.default_rng(SEED)
    keys = [Inputs(*rng.uniform(-1, 1, 4), grab=bool(rng.integers(2))) for _ in range(12)]
    seen = []
    games = [Game(), Game()]
    for _ in range(2):
        for game in games:
            game.new_round()
            rows = [game.round.observe(game.sim)]
            for held in keys:
                for _ in range(10):
                    game.step(held)
                rows.append(game.round.observe(game.sim))
            seen.append(np.array(rows))
    for other in seen[1:]:
        assert np.array_equal(seen[0], other)
    assert len(seen[0][0]) == len(games[0].round.observation_names())


def test_the_clock_starts_with_the_first_key_and_ends_the_round() -> None:
    game = Game(seconds=0.5)
    for _ in range(10):
        assert game.step().phase == "ready"
    assert game.state.time_left == 0.5
    for _ in range(24):
        assert game.step(Inputs(x=1.0)).phase == "playing"
    assert game.step(Inputs(x=1.0)).phase == "over"
    position = game.state.crane
    for _ in range(60):
        state = game.step(Inputs(x=1.0))  # nobody is listening any more
    assert state.time_left == 0.0 and state.step == 25
    assert game.path.velocity == pytest.approx(np.zeros(3)) and state.crane[0] > position[0]
    assert game.new_round().phase == "ready"


def test_the_round_ends_when_all_is_won() -> None:
    game = Game(prizes=PRIZES[:1])
    play(game, "red_box")
    assert game.state.phase == "over" and game.state.time_left > 60.0


def test_every_method_says_whether_it_carries_the_game() -> None:
    found = playable()
    assert set(found) == set(registry.keywords()) - {"none"}
    assert found["springs"] == []
    for method, reasons in found.items():
        assert all(isinstance(reason, str) for reason in reasons), method


def test_methods_get_the_game_s_options_unless_they_have_their_own() -> None:
    assert game_method("springs").options.limit == game_method("springs:recommended").options.limit == 0.01
    own = registry.make("springs", {"limit": 0.02})
    assert game_method(own) is own
    with pytest.raises(MethodError, match="sprigns"):
        game_method("sprigns")


def test_a_copy_of_the_scene_is_played_on() -> None:
    game = Game()
    for _ in range(20):
        game.step(Inputs(x=1.0))
    copied = copy.deepcopy(game.sim)
    game.round.attach(copied)
    assert game.path is copied.scene.bodies["crab"].motion
    before = copied.bodies["crab"].position
    game.round.before_step(copied, Inputs(x=1.0))
    copied.step()
    game.round.after_step(copied)
    assert copied.bodies["crab"].position == pytest.approx(game.path.position)
    assert copied.bodies["crab"].position[0] > before[0]


def test_wrong_inputs_are_refused() -> None:
    with pytest.raises(SceneError, match="Inputs"):
        Game().step({"x": 1.0})  # type: ignore[arg-type]
    with pytest.raises(SceneError, match="dt"):
        Game(dt=-1.0)


def test_a_failure_of_physics_ends_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game()
    game.step(Inputs(x=1.0))
    game.sim.data.v[-1] = 1e300  # the next step is not finite
    for _ in range(5):
        state = game.step(Inputs(x=1.0))
    assert state.phase == "over" and "finite" in state.trouble
    assert game.new_round().phase == "ready"
    assert game.step(Inputs(x=1.0)).phase == "playing"
