from enum import StrEnum


class InputFormat(StrEnum):
    PDF = "pdf"
