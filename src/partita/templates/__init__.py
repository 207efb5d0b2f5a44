"""Types, slots and their values: what is compatible, what subsumes what, what unifies."""
