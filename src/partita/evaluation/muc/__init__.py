"""The MUC-4 exam of 1992: keys and responses mapped, compared and counted."""
