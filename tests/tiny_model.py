"""A tiny model to train in tests: tokenizer from the cards, random weights."""

import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

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
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokens, **named)


def save(folder):
    """Write a Llama of two layers, and its tokenizer."""
    made = tokenizer()
    transformers.set_seed(1)
    size = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}
    size |= {"max_position_embeddings": 4096, "num_hidden_layers": 2, "vocab_size": len(made)}
    ends = {"pad_token_id": made.pad_token_id, "eos_token_id": made.eos_token_id}
    config = transformers.LlamaConfig(**size, **ends, bos_token_id=None)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    made.save_pretrained(folder)


def save_encoder(folder):
    """Write a BERT of two layers, and its tokenizer."""
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "mask")}
    tokens = byte_tokens([*special.values()])
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=tokens, **special)
    transformers.set_seed(1)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    size |= {"num_hidden_layers": 2, "vocab_size": len(made)}
    config = transformers.BertConfig(**size, pad_token_id=made.pad_token_id)
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    made.save_pretrained(folder)
