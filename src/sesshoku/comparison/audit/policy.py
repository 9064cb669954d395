"""`Policy`: a trained network that drives a simulation as its contract says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sesshoku.comparison.audit.contract import Contract, read_contract
from sesshoku.comparison.audit.drive import Drive, add_drives
from sesshoku.comparison.audit.networks import Network, load_network
from sesshoku.comparison.sweep.file import find_function
from sesshoku.errors import SceneError, in_file
from sesshoku.scene.scene import Scene


def load_policy(path: Path) -> Policy:
    """A policy from its contract (.toml), or from its network with the contract of the same name beside it."""
    contract_file = path if path.suffix.lower() == ".toml" else path.with_suffix(".toml")
    contract = read_contract(contract_file)
    if path.suffix.lower() == ".toml" and contract.file is None:
        raise SceneError("names no network", file=str(path), remedy='say file = "walk.onnx"')
    network = path if path.suffix.lower() != ".toml" else contract_file.parent / str(contract.file)
    policy = Policy(contract, load_network(network, contract.algorithm), contract_file)
    policy.files = [contract_file, network]
    return policy


class Policy:
    """A controller: observes and acts at its rate, holds its action between."""

    def __init__(self, contract: Contract, network: Network, file: Path | None = None) -> None:
        self.contract, self.network, self.file = contract, network, file
        self.dt, self.duration = contract.dt, contract.time
        self.files: list[Path] = [] if file is None else [file]
        self._sim: Any = None
        self._scene: Scene | None = None
        self.criterion = contract.success  # in words
        if contract.success is not None and ":" in contract.success:
            self.criterion = None
            self.success = find_function(contract.success, None if file is None else file.parent, "success")

    @property
    def scene(self) -> Scene | None:
        """The scene that the contract names, a file or a function that makes it; None where it names none."""
        said, folder = self.contract.robot, None if self.file is None else self.file.parent
        if self._scene is None and said is not None:
            self._scene = find_function(said, folder, "robot")() if ":" in said else \
                Scene.read(Path(said) if folder is None else folder / said)
        return self._scene

    def prepare_scene(self, scene: Scene) -> None:
        """Servos for joints of the contract that have no actuator."""
        add_drives(scene, self.contract)

    def begin(self, sim: Any) -> None:
        """Find what the contract names in a simulation; the policy's memory is empty again."""
        with in_file(self.file or "contract"):
            self.drive = Drive(self.contract, sim.scene)
        self._every, self._steps, self._sim = max(round(self.contract.period / sim.dt), 1), 0, sim

    def __call__(self, sim: Any) -> None:
        if sim is not self._sim:
            self.begin(sim)
        if self._steps % self._every == 0:
            action = self.network(self.drive.observe(sim))
            if action.shape != self.drive.shape:
                raise SceneError(f"gives {action.size} numbers for {self.drive.shape[0]} joints", element="policy",
                                 file=str(self.file), remedy="correct action.joints")
            self.drive.act(sim, action)
        self.drive.follow(sim)
        self._steps += 1
