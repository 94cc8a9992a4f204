"""Runs the modules of this folder: each `main` prints figures and returns whether they meet their aims."""

import importlib
import pkgutil
import sys

import bench
from bench._machine import describe


def run(names: list[str]) -> int:
    known = [m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_")]
    print(describe())
    missed = []
    for name in names or known:
        print(f"== {name}")
        module = importlib.import_module(f"bench.{name}")
        if not module.main():
            missed.append(name)
    if missed:
        print(f"missed its aim: {', '.join(missed)}")
    return 1 if missed else 0


sys.exit(run(sys.argv[1:]))
