"""docs/mechanisms.md: what every mechanism guarantees and gives away, audited at six ε.

    python -m benchmarks.mechanisms_table --out docs/mechanisms.md

All figures come from `perturb.audit` on the bundled table under the unigram prior.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from perturb import EmbeddingTable, get_mechanism, load_table
from perturb.audit import Audit, audit

__all__ = ["Case", "document", "main"]

EPSILONS = (1.0, 3.0, 6.0, 8.0, 10.0, 14.0)


@dataclass(frozen=True)
class Case:
    """One section of the page: a mechanism, or one of its variants, and what to say of it."""

    title: str
    text: str
    mechanism: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case(
        "rantext",
        "The mechanism of InferDPT (Tong et al., IEEE TDSC 2025, Algorithms 2 and 3): noise of a "
        "random length decides how many near words are candidates, and one of them is released "
        "by the exponential mechanism. The published ε is nominal: the list of candidates "
        "depends on the token, so the proof of the paper does not hold. What is proved is "
        "(ε, δ)-LDP with δ near 1 from ε = 2 up. Below ε = 2 the noise is so wide that every word "
        "is a candidate. It is the default because it is the published mechanism; for a bound, "
        "take rantext_ldp.",
        "rantext",
    ),
    Case(
        "rantext_ldp",
        "RANTEXT's random adjacency with a proof: the R-th nearest word is released, R drawn from "
        "one law that does not depend on the text, with integers only. ε-LDP per token, and "
        "`inferdpt certify` proves it over the whole table. The shape `power` is the default. "
        "Pick this one where a bound is wanted.",
        "rantext_ldp",
    ),
    Case(
        "rantext_ldp, shape random_k",
        "The same with a list of random, public size: the mixture over K = 1, 2, 4, …, 512.",
        "rantext_ldp",
        {"shape": "random_k"},
    ),
    Case(
        "rantext_ldp, shape knn",
        "The same with one fixed list of the 16 nearest words.",
        "rantext_ldp",
        {"shape": "knn"},
    ),
    Case(
        "exponential",
        "The exponential mechanism over all of V (McSherry and Talwar, FOCS 2007) with utility "
        "max(0, 1 − d/r₀), rounded down to 1/1024, in integer weights. ε-LDP per token and "
        "certifiable. Its sum of weights depends on the token, so half of ε is lost: at equal ε "
        "it hides more and keeps less than rantext_ldp.",
        "exponential",
    ),
    Case(
        "santext",
        "P(y|x) ∝ exp(−ε/2·d(x, y)) over V (Yue et al., Findings of ACL 2021). Metric privacy: "
        "ε per unit of distance, so near words are hard and far words easier to tell apart. The "
        "smallest ε for which it is LDP over this table is computed below; it is what to compare "
        "with the ε of rantext_ldp.",
        "santext",
    ),
    Case(
        "santext_plus",
        "SanText over the rarer half of V; a frequent word is kept with probability 0.8 (Yue et "
        "al., Findings of ACL 2021). A frequent word that appears reveals itself: no bound holds "
        "over V. For comparison with the literature only.",
        "santext_plus",
    ),
    Case(
        "custext",
        "The exponential mechanism inside fixed lists of 20 words (Chen et al., Findings of ACL "
        "2023). Inside its list a token is ε-LDP; the released word reveals the list, so over V "
        "δ is 1. For comparison with the literature only.",
        "custext",
    ),
    Case(
        "custext_plus",
        "CusText that keeps function words unchanged (Chen et al., Findings of ACL 2023). No "
        "bound over V. For comparison with the literature only.",
        "custext_plus",
    ),
    Case(
        "madlib",
        "The word nearest to the embedding with noise of density ∝ exp(−ε‖η‖) (Feyisetan et al., "
        "WSDM 2020). Metric privacy. In many dimensions the noise is long: these ε give almost "
        "random words. Its channel has no closed form; the figures are Monte Carlo, with "
        "intervals at 99.9 %, and the mutual information is an upper bound.",
        "madlib",
    ),
    Case(
        "mahalanobis",
        "Madlib with noise shaped by the covariance of the embeddings (Xu et al., PrivateNLP "
        "2020). Metric privacy in the Mahalanobis distance. Monte Carlo as madlib.",
        "mahalanobis",
    ),
    Case(
        "tem",
        "The exponential mechanism on the distance, flat beyond a radius γ (Carvalho et al., "
        "2021). Metric privacy, and ε·γ bounds the LDP ε. At every ε below, γ is larger than the "
        "diameter of the table: the figures are santext's.",
        "tem",
    ),
    Case(
        "selective",
        "A policy marks what is sensitive (digits, patterns, named entities, or all); marked "
        "words go through an inner mechanism, everything else leaves unchanged (SMDP, Maratkhan "
        "2023). For a marked word it is its inner mechanism, with the figures above; for the "
        "rest, and for what the policy misses, it guarantees nothing, and what was marked is "
        "visible. Pick it where most of the text is not sensitive and has to stay readable.",
    ),
    Case(
        "dp_prompt",
        "The local model paraphrases the document token by token, its logits clipped to [b₁, b₂] "
        "and divided by a temperature T (Utpala et al., Findings of EMNLP 2023; Meisenbacher and "
        "Matthes 2024). In mode `dp` a document of n generated tokens costs 2n(b₂ − b₁)/T; modes "
        "`quasi` (no clipping) and `topk` have no guarantee. It has no channel over words, so no "
        "table.",
    ),
)

HEAD = """\
# Mechanisms

Made by `python -m benchmarks.mechanisms_table --out docs/mechanisms.md`; every number is computed
by `perturb.audit`, which `inferdpt audit --mechanism NAME --epsilon E` prints in full.

Table: {model}, {words:,} words, SHA-256 {digest}…. Prior: the words' shares of the bundled corpus
counts. All figures are for one released token.

- **proved**: what the mechanism's own proof says; `d` is the distance of two words in the table
  (`d_M` the Mahalanobis distance).
- **smallest ε**: the smallest ε for which the channel is ε-LDP (any word replaced by any other),
  computed over all x, x', y. `>=`: a proved lower bound. `<=`: an upper bound. ∞: some word can be
  released for one token and never for another.
- **δ**: the smallest δ for which it is (ε, δ)-LDP at the ε asked for: from the pairs of a public
  sample of words below, from a proof above.
- **kept**: the probability that the word itself is released, in any case (`The` for `the`).
- **guessed**: how often the best guess of the word from the released one is right, up to case;
  without looking, the best guess is right with probability {prior:.4f}.
- **bits**: mutual information of the word and the released one, of {entropy:.2f}.
- **cosine**: mean cosine of the word and the released one.

The wording for every ε-LDP mechanism here: each released token is ε-LDP with respect to replacing
that token, given the public vocabulary, instruction and length; changing k tokens costs kε.

## Which to pick

A bound and a document that stays close to its subject: `rantext_ldp`. The published InferDPT:
`rantext`. A text of which only names, numbers and the like are sensitive: `selective`. Everything
else is here to be compared with.
"""


def document(table: EmbeddingTable, progress: tqdm[Any] | None = None) -> str:
    """The whole page."""
    sections, first = [], None
    for case in CASES:
        lines = [f"## {case.title}", "", case.text, ""]
        if case.mechanism:
            lines += [
                "| ε | proved | smallest ε | δ | kept | guessed | bits | cosine |",
                "|---|---|---|---|---|---|---|---|",
            ]
            for epsilon in EPSILONS:
                found = audit(
                    get_mechanism(case.mechanism, table, epsilon=epsilon, **case.parameters),
                    "unigram",
                )
                first = first or found
                lines.append(_row(found))
                if progress is not None:
                    progress.update()
            lines.append("")
        sections.append("\n".join(lines))
    assert first is not None
    head = HEAD.format(
        model=table.provenance["model"],
        words=len(table),
        digest=table.sha256[:16],
        prior=first.prior_best_forms,
        entropy=first.entropy_x,
    )
    return "\n".join([head, *sections])


def _row(found: Audit) -> str:
    if found.kind == "ldp":
        proved = f"{found.epsilon_nominal:g}-LDP"
    elif found.kind == "metric":
        distance = "d_M" if found.mechanism == "mahalanobis" else "d"
        proved = f"{found.epsilon_nominal:g}·{distance}, at most {found.epsilon_proved:.4g}"
    else:
        proved = "none" if math.isinf(found.epsilon_proved) else f"{found.epsilon_proved:.4g}"
    smallest = str(found.epsilon)
    if found.kind == "ldp" and found.epsilon.high - found.epsilon.low < 1e-6:
        smallest = f"{found.epsilon.value:.6f}"
    cells = (
        f"{found.epsilon_nominal:g}",
        proved,
        smallest,
        str(found.delta),
        str(found.kept_forms),
        str(found.bayes_forms),
        str(found.information),
        str(found.cosine),
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Write the page about the mechanisms.")
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    total = sum(bool(case.mechanism) for case in CASES) * len(EPSILONS)
    with tqdm(total=total, desc="audits", disable=not sys.stderr.isatty()) as bar:
        args.out.write_text(document(load_table(), bar), "utf-8")


if __name__ == "__main__":
    main()
