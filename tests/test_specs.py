import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.errors import UnknownNameError, UsageError
from parsemark.specs import Registry, Spec, parse_spec

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
words = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(
    lambda w: w not in ("true", "false", "inf", "nan", "infinity")
)
values = (
    st.booleans() | st.integers(-999, 999) | words | st.floats(-10, 10).filter(lambda f: not f.is_integer())
)
specs = st.builds(
    lambda name, options: Spec(name, tuple(sorted(options.items()))),
    names,
    st.dictionaries(names, values, max_size=3),
)


@given(specs)
def test_a_spec_parses_back(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("text", ["", "a b", "teds(", "teds(x)", "teds(x=1,x=2)", "(x=1)"])
def test_what_is_no_spec_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError):
        parse_spec(text)


def test_a_misspelt_name_answers_with_the_nearest() -> None:
    registry = Registry("thing", "parsemark.nothing", {"teds": "json:loads", "grits_top": "json:dumps"})
    with pytest.raises(UnknownNameError, match=r"Unknown thing 'tedz'. Did you mean 'teds'\?"):
        registry.load("tedz")


def test_things_are_imported_when_asked_for() -> None:
    registry = Registry("thing", "parsemark.nothing", {"loads": "json:loads", "broken": "no_such_module:x"})
    assert registry.names() == ["broken", "loads"]
    assert registry.load("loads")("[1]") == [1]
    with pytest.raises(ModuleNotFoundError):
        registry.load("broken")
