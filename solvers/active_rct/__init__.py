"""Active randomised experiments: who to randomise next, and an honest interval for the answer."""
