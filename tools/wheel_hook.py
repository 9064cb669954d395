"""Lets hatchling put finished code into a wheel, which is then one of a platform: what `tools/wheel.py` asks for."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FinishedCode(BuildHookInterface):  # type: ignore[type-arg]
    """SESSHOKU_WHEEL_CODE: the folder of finished code; SESSHOKU_WHEEL_TAG: the wheel's tag. Without them: nothing."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get("SESSHOKU_WHEEL_CODE")
        if folder and version == "standard":
            build_data["pure_python"] = False
            build_data["tag"] = os.environ["SESSHOKU_WHEEL_TAG"]
            build_data["force_include"][folder] = "sesshoku/compiled/shipped"
