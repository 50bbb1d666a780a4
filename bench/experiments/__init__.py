"""One file per paper: its arms, claims and tiers."""
