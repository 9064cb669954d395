"""What a scene's sensors read of each step: force sensors and IMUs, exact, then with their bias and noise."""

from sesshoku.sensors.sensing import Sensing
from sesshoku.sensors.views import ForceSensorView, ImuView, sensor_view

__all__ = ["ForceSensorView", "ImuView", "Sensing", "sensor_view"]
