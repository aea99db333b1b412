"""Cost of large corpora: measured on few workers, simulated for many, and the store's growth."""
