"""How good distributions are: bits, calibration, coreference scores, the paper's experiment."""
