"""The K best configurations, proved."""
