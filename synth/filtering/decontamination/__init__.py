"""What looks at a task before it is accepted: does it overlap with a benchmark?

Every filter judges a task by itself, so what is accepted depends on no order. A filter has ``look(tasks)``, which gives
for each of them None, or a reason to reject it and one line that quotes nothing of what must not be published.
"""
