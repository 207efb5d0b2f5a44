"""Many documents as one knowledge base: records of their entities, and who is who across them."""
