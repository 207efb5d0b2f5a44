"""Evaluation: bits, calibration, coreference scores and the paper's experiment."""
