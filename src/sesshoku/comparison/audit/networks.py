"""Networks from files: ONNX, TorchScript, Stable-Baselines3, and plain weights in .npz. Packages are imported lazily.

A network is a function of an observation (n) that returns an action (m).

`.npz`: arrays w0, b0, w1, b1 ... of a perceptron, (out, in) each, tanh between; `activation` may name "relu", "elu" or
"tanh"; `mean` and `std`, where they are there, normalise observations; `output` may be "tanh".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, from_extra
from sesshoku.recording.outside import read_arrays

Network = Callable[[np.ndarray], np.ndarray]
ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0.0),
    "elu": lambda x: np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))), "none": lambda x: x}


def load_network(path: Path, algorithm: str = "PPO") -> Network:
    """The network of a file, by its ending."""
    loaders: dict[str, Callable[[], Network]] = {
        ".onnx": lambda: _onnx(path), ".npz": lambda: _plain(path), ".pt": lambda: _torch(path),
        ".zip": lambda: _stable_baselines(path, algorithm)}
    if path.suffix.lower() not in loaders:
        raise SceneError("no such kind of policy", file=str(path), value=path.suffix,
                         remedy=f"there is {', '.join(loaders)}")
    if not path.is_file():
        raise SceneError("there is no such file", file=str(path), remedy="name the network: file = \"walk.onnx\"")
    return loaders[path.suffix.lower()]()


def _onnx(path: Path) -> Network:
    with from_extra("learn", "an ONNX policy"):
        import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # runs are spread over processes
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own kinds of errors, not exported by name
        raise SceneError(f"is not a network that onnxruntime reads ({str(error).splitlines()[0]})",
                         file=str(path)) from None
    inputs = session.get_inputs()
    if len(inputs) != 1:
        raise SceneError(f"has {len(inputs)} inputs ({', '.join(one.name for one in inputs)})", file=str(path),
                         remedy="export the network with the observation as its only input")
    name, kind = inputs[0].name, np.float64 if "double" in inputs[0].type else np.float32
    ranked = len(inputs[0].shape) > 1
    out = session.get_outputs()[0].name

    def run(observation: np.ndarray) -> np.ndarray:
        given = observation.astype(kind)[None] if ranked else observation.astype(kind)
        try:
            found = session.run([out], {name: given})[0]
        except Exception as error:
            raise SceneError(f"does not take {observation.size} numbers ({str(error).splitlines()[0][:120]})",
                             file=str(path), remedy="correct the contract's observations") from None
        return np.asarray(found, dtype=np.float64).reshape(-1)

    return run


def _plain(path: Path) -> Network:
    arrays = read_arrays(path, "weights of a policy")
    layers: list[tuple[np.ndarray, np.ndarray]] = []
    while f"w{len(layers)}" in arrays:
        n = len(layers)
        W, b = arrays[f"w{n}"], arrays.get(f"b{n}")
        if W.ndim != 2 or (b is not None and b.shape != W.shape[:1]):
            raise SceneError(f"w{n} is not a matrix (out, in), or b{n} does not fit it", file=str(path), value=W.shape)
        layers.append((W, np.zeros(len(W)) if b is None else b))
    if not layers:
        raise SceneError("has no weights w0, b0, w1 ...", file=str(path), value=sorted(arrays))
    mean, std = arrays.get("mean", np.zeros(1)), arrays.get("std", np.ones(1))
    between, last = (ACTIVATIONS.get(str(arrays[key]) if key in arrays else usual)
                     for key, usual in (("activation", "tanh"), ("output", "none")))
    if between is None or last is None:
        raise SceneError("names an activation that there is not", file=str(path),
                         remedy=f"use {', '.join(ACTIVATIONS)}")
    chosen, final = between, last

    def run(observation: np.ndarray) -> np.ndarray:
        if observation.size != layers[0][0].shape[1]:
            raise SceneError(f"takes {layers[0][0].shape[1]} numbers", file=str(path), value=observation.size,
                             remedy="correct the contract's observations")
        x = (observation - mean) / std
        for W, b in layers[:-1]:
            x = chosen(W @ x + b)
        result: np.ndarray = final(layers[-1][0] @ x + layers[-1][1])
        return result

    return run


def _torch(path: Path) -> Network:
    try:
        import torch
    except ImportError:
        raise SceneError("a TorchScript policy needs PyTorch", file=str(path),
                         remedy="pip install torch, or export it as ONNX") from None
    try:
        module: Any = torch.jit.load(str(path), map_location="cpu").eval()
    except Exception as error:
        raise SceneError(f"is not TorchScript ({str(error).splitlines()[0]})", file=str(path),
                         remedy="save it with torch.jit.script(policy).save(...), or export it as ONNX") from None

    def run(observation: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found = module(torch.as_tensor(observation, dtype=torch.float32)[None])
        return np.asarray(found.numpy(), dtype=np.float64).reshape(-1)

    return run


def _stable_baselines(path: Path, algorithm: str) -> Network:
    try:
        import stable_baselines3
    except ImportError:
        raise SceneError("a policy of Stable-Baselines3 needs that package", file=str(path),
                         remedy="pip install stable-baselines3, or export the policy as ONNX") from None
    kind: Any = getattr(stable_baselines3, algorithm, None)
    if kind is None:
        raise SceneError("Stable-Baselines3 has no such algorithm", file=str(path), value=algorithm,
                         remedy='say algorithm = "PPO" in the contract')
    model = kind.load(str(path), device="cpu")
    return lambda observation: np.asarray(model.predict(observation.astype(np.float32), deterministic=True)[0],
                                          dtype=np.float64).reshape(-1)
