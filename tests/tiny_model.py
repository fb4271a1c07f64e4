"""A tiny model to train in tests: tokenizer from the cards, random weights."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    set_seed,
)

from parley.declaration.registry import discover

PAD, START, END = "<|pad|>", "<|im_start|>", "<|im_end|>"
# ChatML. `generation` marks the assistant's text and the end of its turn.
TEMPLATE = """\
{%- for message in messages -%}
  {{- '<|im_start|>' + message['role'] + '\\n' -}}
  {%- if message['role'] == 'assistant' -%}
    {%- generation -%}{{- message['content'] + '<|im_end|>' -}}{%- endgeneration -%}
  {%- else -%}
    {{- message['content'] + '<|im_end|>' -}}
  {%- endif -%}
  {{- '\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""


def byte_tokens(special):
    """Train byte tokens, which can encode any text."""
    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    alphabet = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "show_progress": False}
    trainer = trainers.BpeTrainer(vocab_size=1024, special_tokens=special, **alphabet)
    cards = (each.folder / "README.md" for each in discover().values())
    tokens.train_from_iterator((card.read_text(encoding="utf-8") for card in cards), trainer)
    return tokens


def tokenizer():
    """Return a tokenizer of chats."""
    tokens = byte_tokens([PAD, START, END])
    named = {"pad_token": PAD, "eos_token": END, "chat_template": TEMPLATE}
    return PreTrainedTokenizerFast(tokenizer_object=tokens, **named)


def save(folder):
    """Write a Llama of two layers, and its tokenizer."""
    made = tokenizer()
    set_seed(1)
    size = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}
    size |= {"max_position_embeddings": 4096, "num_hidden_layers": 2, "vocab_size": len(made)}
    ends = {"pad_token_id": made.pad_token_id, "eos_token_id": made.eos_token_id}
    LlamaForCausalLM(LlamaConfig(**size, **ends, bos_token_id=None)).save_pretrained(folder)
    made.save_pretrained(folder)


def save_encoder(folder):
    """Write a BERT of two layers, and its tokenizer."""
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "mask")}
    made = PreTrainedTokenizerFast(tokenizer_object=byte_tokens([*special.values()]), **special)
    set_seed(1)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    size |= {"num_hidden_layers": 2, "vocab_size": len(made)}
    BertForMaskedLM(BertConfig(**size, pad_token_id=made.pad_token_id)).save_pretrained(folder)
    made.save_pretrained(folder)
