"""Views of releases, receipts and audits for notebooks and terminals."""
