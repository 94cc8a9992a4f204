import pickle

import pytest

from parsemark import errors


@pytest.mark.parametrize(
    "error",
    [
        errors.UnknownNameError("metric", "tedz", ["teds"]),
        errors.FormatError("Too many cells", position=7, where="page 3"),
        errors.MissingDependencyError("pdflatex", "Making pages", "apt-get install texlive"),
        errors.CorpusError("no truth"),
    ],
)
def test_errors_cross_process_borders_unchanged(error: errors.ParsemarkError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


def test_a_format_error_says_where() -> None:
    assert (
        str(errors.FormatError("Bad span", position=12, where="a.html"))
        == "Bad span (in a.html at offset 12)"
    )


def test_every_error_is_in_the_tree_of_the_docstring() -> None:
    defined = [n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, Exception)]
    assert errors.__doc__ is not None
    assert [name for name in defined if name not in errors.__doc__] == []


def test_an_unknown_name_says_the_nearest_ones_or_all_of_a_few() -> None:
    import pickle

    from parsemark.errors import UnknownNameError

    many = [f"page-{k}" for k in range(100)]
    assert "Did you mean" in str(UnknownNameError("page", "page-7x", many))
    assert str(UnknownNameError("metric", "TEDS", ["cell_f1", "teds"])).endswith("Did you mean 'teds'?")
    few = UnknownNameError("form", "zzz", ("olmocr", "answers"))
    assert str(few) == "Unknown form 'zzz'. Choose one of: answers, olmocr."
    assert str(UnknownNameError("page", "zzz", many)) == "Unknown page 'zzz'."
    for error in (few, UnknownNameError("page", "zzz", many), UnknownNameError("page", "page-7x", many)):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
