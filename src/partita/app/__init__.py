"""What the shells, the service and the page call; each call is in the file of its name."""
