"""Compare mechanisms: the words that stay, the words that an attacker reads, and the guarantee.

python examples/compare.py rantext_ldp:6 rantext_ldp:10 exponential:10
"""

import sys

from perturb import get_mechanism
from perturb.audit.report import audit

print("mechanism        ε  kept   guessed  cosine  guarantee")
for name, epsilon in (choice.split(":") for choice in sys.argv[1:]):
    found = audit(get_mechanism(name, epsilon=float(epsilon)))
    figures = f"{found.kept.value:.3f}  {found.bayes.value:7.3f}  {found.cosine.value:6.3f}"
    print(f"{name:12} {epsilon:>5}  {figures}  {found.kind}")
