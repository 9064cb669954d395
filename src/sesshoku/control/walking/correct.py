"""One call from Python per control step: records go in as tables, which is what makes the call cheap."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import viewer
from sesshoku.control.balance import Balance, sense, stabilise
from sesshoku.control.legs import as_legs
from sesshoku.control.onboard import Senses, sense_onboard
from sesshoku.dynamics.data import as_data
from sesshoku.model.arrays import as_model

as_balance = viewer(Balance)
as_senses = viewer(Senses)


@jit
def correct(model_table, data_table, legs_table, balance_table, q, v, wrench, now, support, ahead, dt):
    """Sense joints and the base's orientation, and stabilise by the feet's wrenches (2, 6)."""
    model, data, legs, balance = (as_model(model_table), as_data(data_table), as_legs(legs_table),
                                  as_balance(balance_table))
    sense(model, legs, balance, q, v)
    stabilise(model, data, legs, balance, wrench, (now, support, ahead), dt)


@jit
def correct_onboard(model_table, data_table, legs_table, balance_table, senses_table, q, v, readings, at, wrench, now,
                    support, ahead, dt):
    """The same by the robot's own sensors: rows `at` (3) of readings (S, 6) are left ankle, right ankle, IMU.

    wrench (2, 6) is written, but where nothing has been read yet.
    """
    model, data, legs, balance, senses = (as_model(model_table), as_data(data_table), as_legs(legs_table),
                                          as_balance(balance_table), as_senses(senses_table))
    sense(model, legs, balance, q, v)
    imu = readings[at[2]]
    seen = 0.0
    for a in range(6):
        seen += abs(imu[a])
    if seen > 0.0:
        sense_onboard(model, data, legs, balance, senses, (readings, at), dt, wrench)
    stabilise(model, data, legs, balance, wrench, (now, support, ahead), dt)


__all__ = ["correct", "correct_onboard"]
