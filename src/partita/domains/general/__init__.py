"""Any English text: people, organisations, places, things, events and pronouns."""
