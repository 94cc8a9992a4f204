"""Knows how one parser is started and what it returns."""

from parsemark.parsers.catalogue import DEFAULT_PARSERS, get_parser, parser_names
from parsemark.parsers.declaration import Info
from parsemark.parsers.environment import Environment
from parsemark.parsers.messages import Answer, Hello
from parsemark.parsers.parser import Parser, State, WorkerCommand
from parsemark.parsers.raw import read_raw
from parsemark.parsers.session import WorkerFailure, WorkerSession

__all__ = [
    "DEFAULT_PARSERS", "Answer", "Environment", "Hello", "Info", "Parser", "State", "WorkerCommand",
    "WorkerFailure", "WorkerSession", "get_parser", "parser_names", "read_raw",
]  # fmt: skip
