"""The commands of `inferdpt privacy`."""
