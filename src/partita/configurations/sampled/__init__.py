"""Markov chains over configurations, honestly reported."""
