"""Tell that what the record of a patient or of a court names is nobody's."""

from __future__ import annotations

from perturb.selective.clinical.nobodys import drop_impersonal, is_of_patient

__all__ = ["drop_impersonal", "is_of_patient"]
