"""Preference pairs: from verified steps, from whole runs, from re-executed perturbations."""
