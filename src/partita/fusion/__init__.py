"""Several sources, contradictory, into one belief."""
