"""Training of the shipped models, and studies behind tables of the documentation."""
