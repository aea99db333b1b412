"""Raw document and perturbed generation in, aligned answer out; runs on trusted hardware only."""
