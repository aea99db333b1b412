"""The small model that ships with the project: `model.gguf`; see MODEL_CARD.md."""
