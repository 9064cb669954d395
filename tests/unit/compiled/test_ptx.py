"""Stages as a GPU's code, without a GPU: LLVM writes PTX, `ptxas` assembles it where there is one."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import sesshoku as ss
from batch_scenes import mixed
from fake_card import FakeCard
from sesshoku.compiled.gpu.cubin import assembler, run_assembler, usage
from sesshoku.compiled.gpu.ptx import bounded, code_key, libdevice_path, ptx_of
from sesshoku.compiled.gpu.stages import make_bodies, make_loop
from sesshoku.compiled.gpu.tiles import TILE, tiled_type, tiled_viewer
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.compiled.table import Record, array, part, scalar
from sesshoku.errors import SesshokuError
from sesshoku.simulation.batch.gpu import launches
from sesshoku.simulation.batch.gpu.cuda import CudaBatch

HOPPER = (9, 0)


def has_libdevice() -> bool:
    try:
        return libdevice_path().is_file()
    except SesshokuError:
        return False


needs_libdevice = pytest.mark.skipif(not has_libdevice(), reason="NVIDIA's libdevice is not installed (extra `cuda`)")
needs_ptxas = pytest.mark.skipif(assembler() is None, reason="NVIDIA's ptxas is not installed")


class Inner(Record):
    x = array(float, "N", 3, saved=True)
    count = scalar()


class Work(Record):
    inner = part(Inner)
    y = array(float, "N")


class Model(Record):
    mass = array(float, "N")
    gravity = array(float, 3)


class Data(Record):
    q = array(float, "N", saved=True)


@jit
def move(model, data, work, dt):
    for n in range(work.inner.count):
        x = work.inner.x[n]
        work.y[n] = math.sin(x[0]) + math.atan2(x[1], model.mass[n]) + model.gravity[2] ** 1.5
        data.q[n] += dt * work.y[n]


@jit
def end(model, data, work, dt):
    return math.isfinite(data.q[0])


def bodies():
    views = (tiled_viewer(tiled_type(Model, True, ("gravity",))), tiled_viewer(tiled_type(Data)),
             tiled_viewer(tiled_type(Work)))
    return make_bodies(Stages((move, end)), views, __name__), make_loop(Stages((move, end)), views, __name__)


@needs_libdevice
def test_a_stage_reads_and_writes_a_cards_memory_and_calls_nothing():
    stages, loop = bodies()
    for body in (*stages.values(), loop):
        ptx = ptx_of(body, HOPPER)
        assert ".visible .entry sesshoku(" in ptx and "sm_90" in ptx
        assert not re.search(r"\bld\.b64|\bst\.b64", ptx), "an access whose memory is not known is slower"
    ptx = ptx_of(stages["move"], HOPPER)
    assert "ld.global.nc" in ptx, "tables do not change: they may come from another cache"
    assert "fma.rn.f64" in ptx and "add.s64" in ptx and str(8 * TILE) in ptx


@needs_libdevice
def test_keys_are_of_content_and_card():
    stages, loop = bodies()
    keys = [code_key(body, card) for body in (*stages.values(), loop) for card in (HOPPER, (8, 0))]
    assert len(set(keys)) == 6 and all(keys)
    assert keys[0] == code_key(bodies()[0]["move"], HOPPER)


@needs_libdevice
def test_what_a_gpu_does_not_have_is_an_error():
    @jit
    def allocates(model, data, work, dt):
        data.q[0] = np.zeros(3).sum()

    views = tuple(tiled_viewer(tiled_type(record, record is Model)) for record in (Model, Data, Work))
    body = make_bodies(Stages((allocates, end)), views, __name__)["allocates"]
    with pytest.raises(SesshokuError, match="allocates: a GPU has no .*NRT"):
        ptx_of(body, HOPPER)


@needs_libdevice
@needs_ptxas
def test_registers_can_be_bounded():
    ptx = ptx_of(bodies()[0]["move"], HOPPER)
    free, few = (run_assembler(assembler(), bounded(ptx, count), HOPPER)[1] for count in (0, 32))
    assert few["registers"] <= 32 < free["registers"]


def test_what_the_assembler_says_is_read():
    said = """ptxas info    : Compiling entry function 'sesshoku' for 'sm_90'
ptxas info    : Function properties for sesshoku
    40 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 54 registers, used 0 barriers, 432 bytes cmem[0]
"""
    assert usage(said) == {"registers": 54, "stack": 40, "spills": 8}


# ---- methods ---------------------------------------------------------------------------------------------------------


@needs_libdevice
@pytest.mark.slow
@pytest.mark.parametrize("method", ["none", "lcp", "exact", "multipoint"])
def test_every_stage_is_written_for_a_gpu(monkeypatch, method):
    """Idioms that a GPU does not know are found here. Registers and local memory of a thread stay bounded."""
    monkeypatch.setattr(CudaBatch, "_find_card", lambda self: FakeCard(64 << 30))
    monkeypatch.setattr(CudaBatch, "_unverified", lambda self: [])
    monkeypatch.setattr(launches, "FEW", 0)
    stages = ss.Batch(mixed(), 4, method, device="cuda")._launches.stages
    for name, body in stages.items():
        ptx = ptx_of(body, HOPPER)
        if method in ("lcp", "exact") and assembler():
            used = run_assembler(assembler(), ptx, HOPPER)[1]
            assert used["registers"] <= 255 and used["stack"] <= 4096 and used["spills"] <= 512, (name, used)
