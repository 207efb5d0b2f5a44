"""The merging decision model at every size."""
