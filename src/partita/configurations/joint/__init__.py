"""The joint model: decisions normalised over all cells."""
