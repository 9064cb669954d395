"""What a run leaves behind: samples of chosen channels, on disk or in memory, to read, plot and export."""

from sesshoku.recording.channels import Channel, CustomChannel
from sesshoku.recording.recording import Recorder, Recording

__all__ = ["Channel", "CustomChannel", "Recorder", "Recording"]
