"""What a scene's sensors read: force sensors and IMUs of each step, state sensors whenever they are asked."""

from sesshoku.sensors.sensing import Sensing
from sesshoku.sensors.state import StateSensorView
from sesshoku.sensors.views import ForceSensorView, ImuView, sensor_view

__all__ = ["ForceSensorView", "ImuView", "Sensing", "StateSensorView", "sensor_view"]
