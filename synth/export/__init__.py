"""Datasets in the formats of trainers and of other projects: one module per family of formats.

A format is a pure function from one of our rows to records, or to the reason why it can't hold the row; reading,
choosing, cutting, writing and counting are the same for all (``synth.export.exporting``).
"""
