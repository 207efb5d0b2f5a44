"""From a distribution to merged entities whose slot values carry probabilities."""
