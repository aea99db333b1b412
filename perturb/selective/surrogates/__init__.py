"""Write surrogates: plausible stand-ins of the same form, the same for equal parts.

They are drawn under the tenant's key and carry no ε.
"""
