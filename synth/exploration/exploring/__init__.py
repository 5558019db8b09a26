"""Seeded exploration: one loop (``walks``), and who chooses what is called (``black_box``, ``application``)."""
