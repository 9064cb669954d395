"""Parsing an MJCF file in a process of its own, with limits: a crash or a hang of the parser is then an error of ours.

Only for files that `guard.py` cannot judge: starting a process costs some 0.2 s.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from sesshoku.errors import SceneError

SECONDS = 20.0  # that the parser may take
MEMORY = 8 * 2**30  # bytes of address space, what the libraries reserve included

CHILD = """
import json, sys
seconds, memory, path, folders = sys.argv[1:]
sys.path[:] = json.loads(folders)
try:
    import resource
    for what, most in ((resource.RLIMIT_AS, int(memory)), (resource.RLIMIT_CPU, int(float(seconds)) + 1),
                       (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
except (ImportError, ValueError, OSError):
    pass
import mujoco
try:
    spec = mujoco.MjSpec.from_file(path)
    for item in [*spec.skins, *spec.textures]:
        spec.delete(item)
    spec.compile()
except MemoryError:
    sys.exit(3)
except Exception:
    pass  # the caller will see the same, and report it
"""


def try_parsing(path: Path, seconds: float = SECONDS, memory: int = MEMORY) -> None:
    """Refuse a file that MuJoCo's parser does not come back from, in time and within its memory."""
    import mujoco  # where it lies is where the child shall find it

    folders = [str(Path(mujoco.__file__).parents[1]), *(entry for entry in sys.path if entry and os.path.isabs(entry))]
    command = [sys.executable, "-I", "-c", CHILD, str(seconds), str(memory), os.path.abspath(path), json.dumps(folders)]
    # MuJoCo writes a log of warnings into the working directory, and this one exists everywhere
    try:
        done = subprocess.run(command, timeout=seconds, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False, cwd=os.path.dirname(os.path.abspath(path)))
    except subprocess.TimeoutExpired:
        raise _refused(f"takes more than {seconds:g} s") from None
    except OSError as error:
        raise SceneError(f"the file needs a process of its own, which cannot be started: {error}",
                         element="mujoco") from None
    if done.returncode == 3:
        raise _refused(f"takes more than {memory / 2**30:g} GB")
    if done.returncode < 0:
        raise _refused(f"crashes (signal {-done.returncode})")


def _refused(what: str) -> SceneError:
    return SceneError(f"MuJoCo's parser {what} on this file", element="mujoco",
                      remedy="look for models that attach each other, and for large counts")
