"""Large sparse sets: exact answers along an elimination order."""
