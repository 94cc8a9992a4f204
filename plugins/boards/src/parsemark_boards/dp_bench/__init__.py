"""DP-Bench (Upstage): text, and first tables."""
