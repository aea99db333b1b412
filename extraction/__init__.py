"""Make the answer from the raw document and the perturbed generation, on trusted hardware only."""
