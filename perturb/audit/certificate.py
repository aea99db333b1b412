"""Certificates: a proof of ε over the whole table, in exact arithmetic, as a small JSON file.

The mechanisms with a proof draw by integer weights w(x, y). So P(y|x) = w(x, y)/Σ_y' w(x, y') is a
ratio of integers, and the largest P(y|x)/P(y|x') is found without trusting any rounding. The
digest of a certificate reveals damage; it is not a signature.
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

from perturb.errors import CertificateError
from perturb.files import write_atomically
from perturb.proof import Progress
from perturb.registry import sanitizer_classes
from perturb.sanitizer import Sanitizer

__all__ = [
    "Certificate",
    "certifiable_names",
    "certify",
    "check_certificate",
    "load_certificate",
    "save_certificate",
]

FORMAT = "inferdpt-certificate-3"
NO_TABLE = "none"
DIGITS = 60
PLACES = Decimal("1e-15")  # to which the proved ε is rounded up


@dataclass(frozen=True)
class Certificate:
    """Record a proof of ε.

    Attributes:
        format: the format of the file.
        mechanism, parameters, table: the subject of the proof; the table by its SHA-256.
        vocabulary: the words of V, in a sentence.
        words: |V|.
        epsilon_nominal: the configured ε.
        epsilon_proved: a decimal number ε'; no two words have P(y|x) > e^ε'·P(y|x').
        worst_pair: the words x, x' and y with the largest ratio, and the exact ratio.
        unit: the unit that ε refers to.
        method: the method of proof.
        created: the date.
        digest: SHA-256 of all other fields.
    """

    format: str
    mechanism: str
    parameters: dict[str, Any]
    table: str
    vocabulary: str
    words: int
    epsilon_nominal: float
    epsilon_proved: str
    worst_pair: dict[str, str]
    unit: str
    method: str
    created: str
    digest: str = ""

    def expected_digest(self) -> str:
        """Return the digest that belongs to the other fields."""
        facts = {**asdict(self), "digest": ""}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def certifiable_names() -> tuple[str, ...]:
    """Return the names of the mechanisms that can be certified.

    >>> {"exponential", "rantext_ldp"} <= set(certifiable_names())
    True
    """
    return tuple(name for name, kind in sanitizer_classes().items() if kind.certifiable)


def certify(mechanism: Sanitizer, progress: Progress = lambda done, total: None) -> Certificate:
    """Prove the ε of a mechanism over every x, x', y of its table.

    Raises:
        CertificateError: the mechanism has no proof, the table is broken (the message names the
            words), or the ratio is above e^ε.
    """
    proof = mechanism.proof()
    if proof is None:
        raise CertificateError(
            f"{mechanism.name} has no proof to certify; "
            f"{' and '.join(certifiable_names())} have one"
        )
    epsilon = mechanism.guarantee.nominal
    worst = proof.find_worst(progress)
    bound = worst.bound
    with localcontext() as context:
        context.prec = DIGITS
        nominal = Decimal(epsilon)
        # exp and ln are correctly rounded, so the next number is a strict bound
        ceiling = Fraction(max(Decimal(1), nominal.exp().next_minus()))
        if bound > ceiling:
            x, other, y = (worst.pair[key] for key in ("x", "x'", "y"))
            raise CertificateError(
                f"{epsilon:g}-LDP is not proved: P({y!r} | {x!r}) is {float(worst.ratio):.9g} "
                f"times P({y!r} | {other!r}), and no rounding hides more than {float(bound):.9g}"
            )
        context.rounding = ROUND_CEILING
        above = (Decimal(bound.numerator) / Decimal(bound.denominator)).ln().next_plus()
        proved = min(above.quantize(PLACES), nominal)
    identity = mechanism.identity()
    blank = Certificate(
        format=FORMAT,
        mechanism=identity.pop("mechanism"),
        table=identity.pop("table", NO_TABLE),
        parameters=identity,
        vocabulary=proof.vocabulary,
        words=proof.size,
        epsilon_nominal=epsilon,
        epsilon_proved=f"{proved:f}",
        worst_pair={**worst.pair, "ratio": str(worst.ratio)},
        unit=proof.unit,
        method=proof.method,
        created=datetime.now(UTC).date().isoformat(),
    )
    return Certificate(**{**asdict(blank), "digest": blank.expected_digest()})


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


def check_certificate(certificate: Certificate, mechanism: Sanitizer) -> None:
    """Compare a certificate with the mechanism that is about to run. This is quick, and repeats no
    proof.

    Raises:
        CertificateError: it was changed, it belongs to another mechanism, other parameters or
            another table, or the code no longer gives its worst ratio.
    """
    if certificate.digest != certificate.expected_digest():
        raise CertificateError("the certificate is damaged: its digest differs")
    identity = json.loads(json.dumps(mechanism.identity()))
    name, table = identity.pop("mechanism"), identity.pop("table", NO_TABLE)
    proof = mechanism.proof()
    for field, certified, actual in (
        ("mechanism", certificate.mechanism, name),
        ("parameters", certificate.parameters, identity),
        ("table", certificate.table, table),
    ):
        if certified != actual:
            raise CertificateError(f"the certificate is for {field} {certified}, not {actual}")
    if proof is None:
        raise CertificateError(f"{mechanism.name} has no proof to certify")
    if certificate.vocabulary != proof.vocabulary:
        raise CertificateError(
            f"the certificate is for vocabulary {certificate.vocabulary}, not {proof.vocabulary}"
        )
    if not Decimal(certificate.epsilon_proved) <= Decimal(mechanism.guarantee.epsilon):
        raise CertificateError("the certificate proves less than the mechanism states")
    if proof.ratio_of(certificate.worst_pair) != Fraction(certificate.worst_pair["ratio"]):
        raise CertificateError(
            "the worst ratio of the code differs from the one in the certificate: certify again"
        )
