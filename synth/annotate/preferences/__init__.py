"""Preference pairs: from verified steps, from whole runs, from re-executed perturbations. Pure functions over rows.

Families: ``decision``, ``planning``, ``verification``, ``robust_recovery``, ``tool_irrelevance``. There is no
``safety_refusal`` here: it needs an environment that gives an honest occasion to refuse (a page that tells the agent
what to do, a request that harms), and a collection of encyclopedic pages gives none.
"""
