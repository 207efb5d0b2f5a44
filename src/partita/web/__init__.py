"""The HTTP service and the web page."""
