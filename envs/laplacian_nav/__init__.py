"""``sci/LaplacianNav-v0``: find the way to a goal in a maze, rooms, or any map or graph."""
