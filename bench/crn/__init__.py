"""What ``scisuite crn`` does between its options and its tables."""
