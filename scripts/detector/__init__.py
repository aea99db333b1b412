"""Data, network and file of the bundled detector; scripts/train_detector.py trains it."""
