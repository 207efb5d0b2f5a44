"""What a person sees: terminal and notebook."""
