"""Methods compared on the same items; the correlation between classifiers, learnt."""
