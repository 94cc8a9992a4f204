"""Plans sample x parser x protocol, runs it, retries, times out, resumes."""
