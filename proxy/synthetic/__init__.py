"""Make synthetic examples of private texts for `inferdpt synthesize`."""
