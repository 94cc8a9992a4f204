"""Turns human ratings into agreement figures and metric-versus-people correlations."""

from parsemark.study.agreement import RaterAgreement, krippendorff_alpha, rater_agreement
from parsemark.study.correlation import correlate
from parsemark.study.judging import StudyVerdicts
from parsemark.study.preparation import study_html
from parsemark.study.ratings import Ratings, read_ratings
from parsemark.study.run import StudyResult, cost_table, prompt_table, run_study, write_results
