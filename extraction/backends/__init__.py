"""Local servers and engines that generate text."""
