"""Terrorist incidents: events and participants by models, and the 25 slots of the exam."""
