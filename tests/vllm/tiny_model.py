"""A Llama of a few hundred thousand random weights, with a tokenizer of its own: vLLM loads it as
it loads any model, in seconds and without a network."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CHAT_TEMPLATE", "CONTEXT", "SENTENCES", "save_tiny_model"]

CONTEXT = 16_384  # room for generations long enough to be broken off in the middle
VOCABULARY = 512
HEADS = 2
HEAD_DIM = 32  # the least vLLM's CPU attention takes
SENTENCES = (
    "The keeper of the lighthouse wrote a long letter to the council of the town.",
    "In the winter the river froze, and the boats stayed in the harbour until spring.",
    "What did the committee decide about the bridge, and who is going to pay for it?",
    "The answer is short: the report was read, the budget was cut, and nobody was pleased.",
)
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{{ '<|' + message.role + '|>' + (message.content or '') + '\\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|assistant|>' }}{%- endif -%}"
)


def save_tiny_model(folder: Path, *, chat_template: str | None = CHAT_TEMPLATE) -> Path:
    """Write the model to `folder`: seeded, so the same weights every time."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY,
            special_tokens=["<s>", "</s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    # As Llama's tokenizer does: <s> before every text, where special tokens are asked for.
    bpe.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", bpe.token_to_id("<s>"))]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token="<s>", eos_token="</s>", model_max_length=CONTEXT
    )
    tokenizer.chat_template = chat_template
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=HEADS * HEAD_DIM,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=HEADS,
            num_key_value_heads=HEADS,
            head_dim=HEAD_DIM,
            max_position_embeddings=CONTEXT,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            initializer_range=0.2,  # logits far enough apart for greedy decoding to have no ties
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
