"""Pair probabilities → distribution over configurations, and the names of models and methods."""

PAIR_MODELS = (
    "uniform",
    "greedy",
    "merging",
    "evidential",
    "scaled",
    "forest",
)  # need pair probabilities
MODELS = (*PAIR_MODELS, "joint")  # the joint model reads the templates themselves
LEARNED_MODELS = tuple(name for name in MODELS if name != "uniform")
METHODS = ("auto", "exact", "certified", "sampled")

__all__ = ["LEARNED_MODELS", "METHODS", "MODELS", "PAIR_MODELS"]
