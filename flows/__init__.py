"""Prefect flows: they start and schedule builds and show their reports. No row logic lives here."""
