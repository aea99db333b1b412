"""Handle the console's pages."""
