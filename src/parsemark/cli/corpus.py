"""`parsemark corpus`: make, describe, check and show corpora."""
