"""The workspace over HTTP, for programs and for the page."""
