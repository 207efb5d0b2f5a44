"""From a message to its templates: tokens, tags, names, groups, phrases, domain rules."""
