"""Coreference sets with keys from tables of records, and the models that learn from them."""
