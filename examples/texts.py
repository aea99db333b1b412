"""Make the data of a benchmark from your own texts.

python examples/texts.py mine.jsonl FILE...

A paragraph of 40 words or more is a text: its first half is the private prefix, its second half
the true continuation.
"""

import json
import sys
from pathlib import Path

out, *files = sys.argv[1:]
paragraphs = [text for file in files for text in Path(file).read_text("utf-8").split("\n\n")]
lines = []
for words in (paragraph.split() for paragraph in paragraphs):
    if len(words) >= 40:
        half = len(words) // 2
        text = {"prefix": words[:half], "continuation": words[half:], "document": words}
        parts = {name: " ".join(part) for name, part in text.items()}
        lines.append(json.dumps({"id": str(len(lines)), **parts}))
Path(out).write_text("\n".join(lines) + "\n", "utf-8")
print(f"{len(lines)} texts in {out}")
