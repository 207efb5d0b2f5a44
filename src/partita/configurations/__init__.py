"""Pair probabilities → distribution over configurations."""
