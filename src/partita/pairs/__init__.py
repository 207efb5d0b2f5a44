"""Two templates → probability: characteristics of context, and models over them."""
