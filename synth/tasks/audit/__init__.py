"""A second opinion on finished tasks, by brute force.

The checks (:mod:`synth.tasks.checks`) judge a candidate before it is a row, with indexes and a graph in arrays. The
audit judges the row that came out of it, and shares no code with them or with those that propose: facts are plain
dictionaries, a question is joined by backtracking over them, and documents are read again. ``synth validate --deep``
runs it over the Parquet of a dataset; nothing but the published files is asked.
"""

from synth.tasks.audit.auditor import Problem

__all__ = ["Problem"]
