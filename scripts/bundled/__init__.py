"""How the bundled model is made: data, tokenizer, model, training, export."""
