"""Keep what outlives the process: releases, spending and keys."""
