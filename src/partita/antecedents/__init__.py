"""From templates to what may corefer: coreference sets."""
