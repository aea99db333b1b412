"""Build what a release consists of: the distributions, and their bill of materials."""
