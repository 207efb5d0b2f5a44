"""Markov chains over configurations, with convergence checks."""
