"""What a run leaves behind: samples of chosen channels, on disk or in memory, to read, plot and export.

In: a simulation, after each step. Out: a `Recording`, its plots, films and files, and the certificate of the run.
"""

from sesshoku.recording.channels import Channel, CustomChannel
from sesshoku.recording.recording import Recorder, Recording

__all__ = ["Channel", "CustomChannel", "Recorder", "Recording"]
