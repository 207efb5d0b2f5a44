"""Evaluation: bits, calibration, coreference scores, the paper's experiment, the MUC-4 scorer."""
