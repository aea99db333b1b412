"""Build the bundled model: data, tokenizer, model, training, export."""
