"""The training of Table Transformer (bench/training), checked where torch is: in the worker's environment."""

import subprocess
from pathlib import Path

import matplotlib
import pytest

import parsemark
from parsemark.parsers import get_parser

pytestmark = pytest.mark.parsers

ROOT = Path(__file__).parents[2]
TRAINING = ROOT / "bench" / "training"
WORKERS = Path(parsemark.__file__).parent / "parsers" / "workers"


def test_losses_pictures_and_saved_weights_are_right(tmp_path: Path) -> None:
    font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    parser = get_parser("tatr")
    parser.environment.build()
    checks = Path(__file__).with_name("training_checks.py")
    command = [parser.environment.python, checks, TRAINING, WORKERS, tmp_path, font]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
