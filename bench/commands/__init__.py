"""Commands that papers add to the ``scisuite`` command line: one file each, found by name, loaded when called."""
