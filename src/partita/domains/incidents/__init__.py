"""Terrorist incidents: what rules cannot say; from phrases to the 25 slots of the exam."""
