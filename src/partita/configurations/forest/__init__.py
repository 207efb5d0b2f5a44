"""The forest model: spanning trees of pair scores instead of sums over all pairs."""
