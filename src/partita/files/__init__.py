"""Files and data frames to records and back."""
