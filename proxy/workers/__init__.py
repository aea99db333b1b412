"""Serve from several processes of one machine: their supervisor and what they share."""
