"""``sci/LABO-v0``: experiments with a cheap, biased predictor beside them."""
