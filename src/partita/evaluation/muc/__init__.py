"""The exam of 1992: keys and responses of MUC-4, mapped, compared and counted."""
