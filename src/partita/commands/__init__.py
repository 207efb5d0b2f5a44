"""The commands: thin shells over the workspace, one file for each family."""
