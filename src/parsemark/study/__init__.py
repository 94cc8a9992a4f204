"""Turns human ratings into agreement figures and metric-versus-people correlations."""

from parsemark.study.agreement import RaterAgreement, correlate, krippendorff_alpha, rater_agreement
from parsemark.study.judging import StudyVerdicts
from parsemark.study.preparation import study_html
from parsemark.study.ratings import Ratings, read_ratings
from parsemark.study.run import StudyResult, cost_table, prompt_table, run_study, write_results

__all__ = [
    "RaterAgreement", "Ratings", "StudyResult", "StudyVerdicts", "correlate", "cost_table",
    "krippendorff_alpha", "prompt_table", "rater_agreement", "read_ratings", "run_study", "study_html",
    "write_results",
]  # fmt: skip
