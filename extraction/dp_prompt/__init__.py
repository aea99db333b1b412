"""DP-Prompt: paraphrases by a local model with clipped logits."""
