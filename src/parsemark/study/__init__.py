"""Turns human ratings into agreement figures and metric-versus-people correlations."""
