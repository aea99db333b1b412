"""Documentation pages made by a command."""
