"""The most probable configuration with a certificate."""
