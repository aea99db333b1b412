"""Call the untrusted model: its client, its guard and its errors."""
