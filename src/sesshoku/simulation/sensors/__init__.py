"""What a scene's sensors read: force sensors and IMUs of each step, state sensors whenever they are asked."""

from sesshoku.simulation.sensors.sensing import Sensing
from sesshoku.simulation.sensors.state import StateSensorView
from sesshoku.simulation.sensors.views import ForceSensorView, ImuView, sensor_view

__all__ = ["ForceSensorView", "ImuView", "Sensing", "StateSensorView", "sensor_view"]
