"""Keys to parameters of the models."""
