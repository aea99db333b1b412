"""Certificates: a proof of ε over the whole table, in exact arithmetic, as a small JSON file.

The mechanisms with a proof draw by integer weights w(x, y), so P(y|x) = w(x, y)/Σ_y' w(x, y')
is a ratio of integers and the largest P(y|x)/P(y|x') is found without trusting a rounding. The
digest shows damage; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.channel import Progress
from perturb.embeddings import EmbeddingTable, write_atomically
from perturb.errors import CertificateError
from perturb.exponential import Exponential
from perturb.mechanism import Mechanism
from perturb.rantext_ldp import RanTextLDP
from perturb.scored import squared_distances

__all__ = [
    "CERTIFIABLE",
    "Certificate",
    "certify",
    "check_certificate",
    "load_certificate",
    "save_certificate",
]

FORMAT = "inferdpt-certificate-1"
CERTIFIABLE = (Exponential.name, RanTextLDP.name)
ROWS = 512
DIGITS = 60
PLACES = Decimal("1e-15")  # of the ε that is written down
# A share w/Σw has three roundings (both numbers to float64, the quotient), two shares and their
# ratio seven of 2^-53 each; and some to spare.
OUTWARD = 1 + Fraction(1, 1 << 49)
METHODS = {
    RanTextLDP.name: "integer weights of every pair of words, compared exactly; every list of "
    "nearest words checked against the exact distances",
    Exponential.name: "integer weights of every pair of words; quotients in double precision, "
    "rounded outwards, and the worst one exactly",
}


@dataclass(frozen=True)
class Certificate:
    """What was proved.

    Attributes:
        format: of this file.
        mechanism, parameters, table: what it is about, the table by its SHA-256.
        words: |V|.
        epsilon_nominal: the ε the mechanism was asked for.
        epsilon_proved: a decimal number; no two words have P(y|x) > e^that·P(y|x').
        worst_pair: the words x, x' and y where the ratio is largest, and the exact ratio.
        method: how it was proved.
        created: the date.
        digest: SHA-256 of all the rest.
    """

    format: str
    mechanism: str
    parameters: dict[str, Any]
    table: str
    words: int
    epsilon_nominal: float
    epsilon_proved: str
    worst_pair: dict[str, str]
    method: str
    created: str
    digest: str = ""

    def expected_digest(self) -> str:
        """The digest that belongs to the other fields."""
        facts = {**asdict(self), "digest": ""}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def certify(mechanism: Mechanism, progress: Progress = lambda done, total: None) -> Certificate:
    """Prove the ε of `rantext_ldp` or `exponential` over every x, x', y of the table.

    Raises:
        CertificateError: the mechanism has no proof, the table is broken (the words are
            named), or the ratio is above e^ε.
    """
    if not isinstance(mechanism, (RanTextLDP, Exponential)):
        raise CertificateError(
            f"{mechanism.name} has no proof to certify; {' and '.join(CERTIFIABLE)} have one"
        )
    table = mechanism.table
    if not table.sha256:
        raise CertificateError("the table was never saved: it has no SHA-256 to name")
    norms = np.einsum("ij,ij->i", table.vectors, table.vectors, dtype=np.float64)
    if norms.max() > 4:  # sums of products of float16 numbers stay exact: see table_build
        raise CertificateError("an embedding is longer than 2: its distances may be rounded")
    if isinstance(mechanism, RanTextLDP):
        _check_order(table)
    (x, other, y), ratio, bound = _largest_ratio(mechanism, progress)
    words = table.vocabulary.words
    worst = {"x": words[x], "x'": words[other], "y": words[y], "ratio": str(ratio)}
    with localcontext() as context:
        context.prec = DIGITS
        nominal = Decimal(mechanism.epsilon)
        # exp and ln are correctly rounded: the next number is a strict bound
        ceiling = Fraction(max(Decimal(1), nominal.exp().next_minus()))
        if bound > ceiling:
            raise CertificateError(
                f"{mechanism.epsilon:g}-LDP is not proved: P({words[y]!r} | {words[x]!r}) is "
                f"{float(ratio):.9g} times P({words[y]!r} | {words[other]!r}), and no rounding "
                f"hides more than {float(bound):.9g}"
            )
        context.rounding = ROUND_CEILING
        above = (Decimal(bound.numerator) / Decimal(bound.denominator)).ln().next_plus()
        proved = min(above.quantize(PLACES), nominal)
    identity = mechanism.identity()
    blank = Certificate(
        format=FORMAT,
        mechanism=identity.pop("mechanism"),
        table=identity.pop("table"),
        parameters=identity,
        words=len(words),
        epsilon_nominal=mechanism.epsilon,
        epsilon_proved=f"{proved:f}",
        worst_pair=worst,
        method=METHODS[mechanism.name],
        created=datetime.now(UTC).date().isoformat(),
    )
    return Certificate(**{**asdict(blank), "digest": blank.expected_digest()})


class _Extreme:
    """The largest or the smallest key of every column, the row it is in, and its weight."""

    def __init__(self, first: NDArray[Any], largest: bool) -> None:
        self.key = first
        self.row = np.zeros(len(first), dtype=np.int64)
        self.weight = np.zeros(len(first), dtype=np.uint64)
        self._farther: Any = np.greater if largest else np.less
        self._pick: Any = np.argmax if largest else np.argmin

    def see(
        self, keys: NDArray[Any], weights: NDArray[np.uint64], rows: NDArray[np.int64]
    ) -> None:
        found, columns = self._pick(keys, axis=0), np.arange(keys.shape[1])
        new = self._farther(keys[found, columns], self.key)
        self.key[new] = keys[found, columns][new]
        self.row[new] = rows[found[new]]
        self.weight[new] = weights[found, columns][new]


def _largest_ratio(
    mechanism: RanTextLDP | Exponential, progress: Progress
) -> tuple[tuple[int, int, int], Fraction, Fraction]:
    """The (x, x', y) of the largest P(y|x)/P(y|x'), that ratio exactly, and a bound on all.

    The rows of rantext_ldp are one law in different orders, so their integers are compared as
    they are; the sums of exponential's rows differ, so quotients are compared.
    """
    m = len(mechanism.table)
    one_law = isinstance(mechanism, RanTextLDP)
    kind = np.uint64 if one_law else np.float64
    high = _Extreme(np.zeros(m, dtype=kind), largest=True)
    most = np.iinfo(np.uint64).max if one_law else np.inf
    low = _Extreme(np.full(m, most, dtype=kind), largest=False)
    sums = np.empty(m, dtype=np.uint64)
    for start in range(0, m, ROWS):
        words = np.arange(start, min(start + ROWS, m))
        weights = mechanism.integer_weights(words)
        sums[words] = weights.sum(axis=1, dtype=np.uint64)
        keys = weights if one_law else weights / sums[words, None]
        high.see(keys, weights, words)
        low.see(keys, weights, words)
        progress(start + len(words), m)

    def ratio(y: int) -> Fraction:
        above = Fraction(int(high.weight[y]), int(sums[high.row[y]]))
        return above / Fraction(int(low.weight[y]), int(sums[low.row[y]]))

    if one_law:
        if (sums != sums[0]).any():
            raise CertificateError("the rows of rantext_ldp are not one law")
        y = max(range(m), key=lambda y: Fraction(int(high.weight[y]), int(low.weight[y])))
        bound = ratio(y)
    else:
        quotients = high.key / low.key
        y = int(np.argmax(quotients))
        bound = Fraction(float(quotients[y])) * OUTWARD
    return (int(high.row[y]), int(low.row[y]), y), ratio(y), bound


def _check_order(table: EmbeddingTable) -> None:
    """Every list is x and then the nearest words by exact distance, ties by rank; so σ_x, the
    list and all other words, is a permutation.

    Raises:
        CertificateError: a list is not; it and the words are named.
    """
    words, m = table.vocabulary.words, len(table)
    for start in range(0, m, ROWS):
        block = np.arange(start, min(start + ROWS, m))
        square = squared_distances(table, block)
        square[np.arange(len(block)), block] = -1.0  # x itself comes first
        listed = table.neighbours[block].astype(np.int64)
        far = np.take_along_axis(square, listed, axis=1)
        nearer = (far[:, :-1] < far[:, 1:]) | (
            (far[:, :-1] == far[:, 1:]) & (listed[:, :-1] < listed[:, 1:])
        )
        if (wrong := np.argwhere(~nearer)).size:
            row, place = wrong[0]
            one, two = words[listed[row, place]], words[listed[row, place + 1]]
            twice = np.bincount(listed[row]).max() > 1
            again = words[int(np.bincount(listed[row]).argmax())]
            fault = f"{again!r} twice" if twice else f"{one!r} before {two!r}, which is nearer"
            raise CertificateError(f"the list of {words[block[row]]!r} names {fault}")
        # in order and without repeats: complete where no more words are nearer than the last
        last, edge = listed[:, -1:], far[:, -1:]
        before = (square < edge) | ((square == edge) & (np.arange(m) < last))
        missing = np.flatnonzero(before.sum(axis=1) != listed.shape[1] - 1)
        if missing.size:
            row = int(missing[0])
            left_out = np.setdiff1d(np.flatnonzero(before[row]), listed[row])
            raise CertificateError(
                f"the list of {words[block[row]]!r} leaves out {words[left_out[0]]!r} and names "
                f"{words[listed[row, -1]]!r}, which is farther"
            )


def save_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate as JSON, complete or not at all."""
    text = json.dumps(asdict(certificate), ensure_ascii=False, indent=2) + "\n"
    write_atomically(Path(path), text.encode())


def load_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate.

    Raises:
        CertificateError: there is none at the path, or it is damaged.
    """
    name = Path(path).name
    try:
        data = json.loads(Path(path).read_text("utf-8"))
    except OSError:
        raise CertificateError(f"no certificate can be read at {path}") from None
    except ValueError:
        raise CertificateError(f"{name} is not JSON") from None
    expected = {f.name for f in fields(Certificate)}
    if not isinstance(data, dict) or set(data) != expected or data["format"] != FORMAT:
        raise CertificateError(f"{name} is not a certificate of format {FORMAT}")
    certificate = Certificate(**data)
    if certificate.digest != certificate.expected_digest():
        raise CertificateError(f"{name} is damaged: its digest differs")
    return certificate


def check_certificate(certificate: Certificate, mechanism: Mechanism) -> None:
    """Hold a certificate against the mechanism that is to run; quick, it proves nothing anew.

    Raises:
        CertificateError: it was changed, it is about another mechanism, other parameters or
            another table, or the code no longer gives its worst ratio.
    """
    if certificate.digest != certificate.expected_digest():
        raise CertificateError("the certificate is damaged: its digest differs")
    identity = json.loads(json.dumps(mechanism.identity()))
    name, table = identity.pop("mechanism"), identity.pop("table")
    for what, said, is_so in (
        ("mechanism", certificate.mechanism, name),
        ("parameters", certificate.parameters, identity),
        ("table", certificate.table, table),
    ):
        if said != is_so:
            raise CertificateError(f"the certificate is for {what} {said}, not {is_so}")
    if not isinstance(mechanism, (RanTextLDP, Exponential)):
        raise CertificateError(f"{mechanism.name} has no proof to certify")
    if not Decimal(certificate.epsilon_proved) <= Decimal(mechanism.guarantee.epsilon):
        raise CertificateError("the certificate proves less than the mechanism states")
    words = mechanism.table.vocabulary.words
    x, other, y = (words.index(certificate.worst_pair[key]) for key in ("x", "x'", "y"))
    weights = mechanism.integer_weights(np.array([x, other]))
    above, below = (Fraction(int(row[y]), int(row.sum(dtype=np.uint64))) for row in weights)
    if above / below != Fraction(certificate.worst_pair["ratio"]):
        raise CertificateError("the code gives another worst ratio than the certificate: certify")
