"""Does it depend on the simulator? One controller under many contact laws and MuJoCo, over many conditions.

    result = ss.audit("my_robot:balance", robot="robot.xml", over=["friction=0.3..1.0", "push=0..40"], seeds=20)
    print(result.verdict)

`conditions` (what varies), `controllers` (what is judged), `policy` with `contract`, `drive`, `observe` and `networks`
(trained ones), `trial` (one run), `touch` (what its contacts do), `statistics`, `parting` (where two runs part, and at
which contact), `verdict`, `run` (all of it), `table`, `page` with `ghosts` (how it is shown), `check` (a MuJoCo file
beside Coulomb's law).
"""

from sesshoku.comparison.audit.check import Check, check_model
from sesshoku.comparison.audit.run import Audit, audit

__all__ = ["Audit", "Check", "audit", "check_model"]
