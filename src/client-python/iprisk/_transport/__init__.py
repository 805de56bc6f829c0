"""How requests go out on the standard library."""
