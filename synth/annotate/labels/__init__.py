"""Labels of steps: what each turn of a recorded trajectory did for its task.

The labeller sees the trajectory and the task with its walk and evidence. What an agent thought proves nothing here, and
what a scripted agent did wrong on purpose is sealed away from it.
"""

from synth.annotate.labels.label import StepLabel, label

__all__ = ["StepLabel", "label"]
