"""The printed summary: never too wide, nothing unescaped, numbers as in a table of coefficients."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustsparse.base.errors import ParameterError
from robustsparse.report.summary.markup import escape_tex
from robustsparse.report.summary.numbers import align, format_p, format_table
from robustsparse.report.summary.report import Summary
from robustsparse.report.summary.words import measure, printable, shorten, shorten_all, wrap

CALL = 'rht("y ~ . - id", data, family="gaussian", estimator="trim", keep=["age", "batch"])'
HEAD = (("Call", CALL), ("Rows", "333"), ("Dropped", "0"), ("Scale", "0.512"))
LONG = "expression_of_a_gene_with_a_name_that_never_seems_to_come_to_an_end_at_all"
NAMES = ["Intercept", "AFFX-HUMISGF3A/M97935_MA_at", LONG]


def coefficients() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Estimate": [12.34567, -1.98, 0.51],
            "Std. Error": [0.3, 0.021, 0.03],
            "95% CI low": [11.8, -2.02, 0.45],
            "95% CI high": [12.9, -1.94, 0.57],
            "z": [41.2, -94.3, 17.0],
            "p": [0.0, 1e-20, 0.0123],
        },
        index=NAMES,
    )


def summary(table: pd.DataFrame | None = None, **fields: object) -> Summary:
    pieces: dict[str, object] = {
        "title": "Robust Hard Thresholding",
        "head": HEAD,
        "notes": ("A note.",),
    }
    return Summary(table=coefficients() if table is None else table, **(pieces | fields))  # type: ignore[arg-type]


def cells(table: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    return {column.name: column.cells for column in format_table(table)}


# Numbers


def test_estimates_errors_and_interval_ends_share_decimals_set_by_the_standard_error() -> None:
    shown = cells(coefficients())
    assert shown["Estimate"] == ("12.3457", "-1.9800", " 0.5100")
    assert shown["Std. Error"] == ("0.3000", "0.0210", "0.0300")
    assert shown["95% CI low"] == ("11.8000", "-2.0200", " 0.4500")


def test_terms_on_far_apart_scales_keep_their_own_decimals_and_an_aligned_point() -> None:
    table = pd.DataFrame(
        {"Estimate": [123456.7, 0.00123, 2.5e-9], "Std. Error": [210.0, 0.0001, 1e-10]}
    )
    shown = cells(table)["Estimate"]
    assert [cell.strip() for cell in shown] == ["123457", "0.001230", "2.500e-09"]
    assert len({len(cell) for cell in shown}) == 1
    assert (
        len({cell.find(".") for cell in shown if "." in cell} | {shown[0].rstrip().__len__()}) == 1
    )


def test_a_tiny_standard_error_is_not_rounded_to_zero() -> None:
    shown = cells(pd.DataFrame({"Estimate": [1.5], "Std. Error": [3.21e-16]}))
    assert shown["Std. Error"] == ("3.2e-16",)


def test_estimates_without_standard_errors_show_four_digits() -> None:
    assert cells(pd.DataFrame({"Estimate": [1.98764, -0.5]}))["Estimate"] == (" 1.9876", "-0.5000")


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.5, "0.5000"),
        (0.001, "0.0010"),
        (0.00099, "9.9e-04"),
        (1e-17, "<2e-16"),
        (0.0, "<2e-16"),
        (np.nan, "–"),
    ],
)
def test_p_values(p: float, text: str) -> None:
    assert format_p(p) == text


@pytest.mark.parametrize("name", ["p", "P value", "p-value", "Pr(>|z|)", "Pr(>|t|)"])
def test_p_values_are_known_by_their_usual_names(name: str) -> None:
    assert cells(pd.DataFrame({name: [1e-30]}))[name] == ("<2e-16",)


def test_missing_and_infinite_values() -> None:
    table = pd.DataFrame(
        {
            "Estimate": [np.nan, np.inf, -np.inf, -0.0, 1.5],
            "Selection frequency": [np.nan, 1.0, 0.5, 0.0, 0.123],
            "Rows": pd.array([1, None, 3, 4, 5], dtype="Int64"),
            "Kept": pd.array([True, False, None, True, True], dtype="boolean"),
            "Reference": ["a", None, "b", "c", "d"],
        }
    )
    shown = cells(table)
    assert [cell.strip() for cell in shown["Estimate"]] == ["–", "Inf", "-Inf", "0.000", "1.500"]
    assert [cell.strip() for cell in shown["Selection frequency"]] == [
        "–",
        "1.00",
        "0.50",
        "0.00",
        "0.12",
    ]
    assert [cell.strip() for cell in shown["Rows"]] == ["1", "–", "3", "4", "5"]
    assert shown["Kept"] == ("yes", "no", "–", "yes", "yes")
    assert shown["Reference"] == ("a", "–", "b", "c", "d")
    assert "nan" not in summary(table).text().lower()


# The largest doubles overflow when they are rounded up.
FLOATS = st.floats(-1e300, 1e300) | st.sampled_from([np.nan, np.inf, -np.inf])


@given(
    st.lists(FLOATS, min_size=1, max_size=8),
    st.lists(st.floats(min_value=0), min_size=8, max_size=8),
)
@settings(max_examples=200, deadline=None)
def test_printed_numbers_stand_for_the_numbers(values: list[float], errors: list[float]) -> None:
    table = pd.DataFrame({"Estimate": values, "Std. Error": errors[: len(values)]})
    shown = cells(table)["Estimate"]
    assert len({len(cell) for cell in shown}) == 1
    for value, cell in zip(values, shown, strict=True):
        if np.isfinite(value):
            # Half a unit of the last digit shown, where there is an exponent too; exact below.
            digits = re.sub(r"e.*|\.", "", cell.strip()).lstrip("-0")
            unit = 10.0 ** -max(len(digits) - 1, 0) if digits else 1.0
            assert float(cell) == pytest.approx(value, rel=unit, abs=0)


def test_align_puts_points_below_each_other() -> None:
    assert align(["–", "10.25", "7"]) == (" –   ", "10.25", " 7   ")
    assert align(["–", "<2e-16", "0.0100"]) == ("     –", "<2e-16", "0.0100")
    assert align([]) == ()


def test_the_table_is_not_changed() -> None:
    table = coefficients()
    shown = summary(table)
    shown.text(), shown._repr_html_(), shown.to_latex()
    pd.testing.assert_frame_equal(table, coefficients())


# Words


def test_measure_counts_columns_not_characters() -> None:
    assert [measure(text) for text in ("abc", "年齢", "e\u0301", "–±…")] == [3, 4, 1, 3]


@given(st.text(max_size=60), st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(measure(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == printable(" ".join(text.split())).replace(" ", "")


@given(
    st.lists(st.text(st.sampled_from("ab"), max_size=30), unique=True, max_size=40),
    st.integers(8, 20),
)
@settings(deadline=None)
def test_short_names_fit_and_different_names_stay_different(names: list[str], width: int) -> None:
    short = shorten_all(names, width)
    assert all(measure(name) <= width for name in short)
    assert len(set(short)) == len(names)
    assert all(a == b for a, b in zip(names, short, strict=True) if len(a) <= width)


def test_names_that_begin_and_end_alike_show_where_they_differ() -> None:
    names = ["a" * 30 + middle + "z" * 30 for middle in "xyw"]
    assert shorten_all(names, 12) == ["aaa…aaxzzzz…", "aaa…aayzzzz…", "aaa…aawzzzz…"]
    assert shorten(names[0], 11, before=3) == "aaa…zzzzzzz"
    apart = ["a" * 30 + x + "a" * 30 + y + "a" * 30 for x in "bc" for y in "xy"]
    assert shorten_all(apart, 12) == [
        "aaa…aabaaaa…",
        "aaa…aabaaa~2",
        "aaa…aacaaaa…",
        "aaa…aacaaa~2",
    ]


def test_control_characters_do_not_break_lines() -> None:
    table = pd.DataFrame({"Estimate": [1.0]}, index=["dose\n(mg)\t\u2028"])
    text = summary(table, head=(("a\nb", "c\nd"),), notes=("e\n\nf",)).text()
    assert r"dose\n(mg)\t\u2028" in text
    assert "- e f" in text
    assert max(map(len, text.splitlines())) == 80


# Text

TEXT = st.text(max_size=100)


@given(
    title=TEXT,
    head=st.lists(st.tuples(st.text(max_size=30), TEXT), max_size=8),
    columns=st.lists(st.text(max_size=40), max_size=9),
    names=st.lists(TEXT, max_size=4),
    notes=st.lists(TEXT, max_size=3),
    width=st.integers(60, 120),
    data=st.data(),
)
@settings(max_examples=250, deadline=None)
def test_no_line_is_ever_too_wide(
    title: str,
    head: list[tuple[str, str]],
    columns: list[str],
    names: list[str],
    notes: list[str],
    width: int,
    data: st.DataObject,
) -> None:
    kinds = [st.floats(), st.integers(-(2**62), 2**62), st.text(max_size=90), st.booleans()]
    content = [
        pd.Series(data.draw(st.lists(kinds[j % 4], min_size=len(names), max_size=len(names))))
        for j in range(len(columns))
    ]
    table = pd.concat(content, axis=1) if content else pd.DataFrame(index=range(len(names)))
    table.index, table.columns = pd.Index(names, dtype=object), pd.Index(columns, dtype=object)
    shown = Summary(title, tuple(head), table, tuple(notes))
    lines = shown.text(width).split("\n")
    assert all(measure(line) <= width and line.isprintable() for line in lines)
    assert measure(max(lines, key=measure)) == width


def test_text_holds_every_piece_in_order() -> None:
    text = summary().text()
    places = [
        text.index(piece)
        for piece in ("Robust Hard", "Call:", "Rows:", "Estimate", "Intercept", "- A note.")
    ]
    assert places == sorted(places)
    assert str(summary()) == repr(summary()) == text


def test_long_calls_wrap_beside_their_label_and_short_pairs_share_lines() -> None:
    lines = summary().text().splitlines()
    assert lines[2].startswith('Call:    rht("y ~ .')
    assert lines[3].startswith(" " * 9)
    assert "batch" in lines[3]
    assert [re.sub(" +", " ", line) for line in lines[4:6]] == [
        "Rows: 333 Scale: 0.512",
        "Dropped: 0",
    ]


def test_long_names_are_short_in_text_and_complete_elsewhere() -> None:
    shown = summary()
    assert LONG not in shown.text()
    assert LONG in shown._repr_html_()
    assert LONG.replace("_", r"\_") in shown.to_latex()


def test_a_table_too_wide_for_the_page_is_folded_and_repeats_the_names() -> None:
    table = pd.DataFrame(
        {f"quantity number {j}": np.arange(3) + 0.12345 for j in range(12)}, index=list("abc")
    )
    text = summary(table).text()
    assert all(re.search(rf"\b{j}\b", text) for j in range(12))
    assert len(re.findall("^a ", text, re.MULTILINE)) == 2


def test_without_rows_it_says_so() -> None:
    empty = coefficients().iloc[:0]
    for shown in (summary(empty).text(), summary(empty)._repr_html_(), summary(empty).to_latex()):
        assert "no term selected" in shown
    assert "no edge" in summary(empty, empty="no edge").text()


def test_narrow_pages_are_refused() -> None:
    with pytest.raises(ParameterError, match="width=40"):
        summary().text(40)


# HTML


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_html_escapes_everything_and_is_well_formed() -> None:
    evil = "<script>alert('1') & 2</script>"
    table = pd.DataFrame({evil: [1.0], "text": [evil]}, index=[evil])
    shown = Summary(evil, ((evil, evil), ("a", "b")), table, (evil,))
    reader = _Reader()
    reader.feed(shown._repr_html_())
    assert reader.open == []
    assert "script" not in reader.tags
    assert sum(word.rstrip(":") == evil for word in reader.words) == 7


# LaTeX

AWKWARD = "a&b%c#d$e_f^g~h{i}j\\k<l>m|n\"o'p`q--r"


def _unescaped(tex: str) -> str:
    """What is left of an escaped text when everything that TeX prints as it stands is removed."""
    return re.sub(
        r"\\[{}$&#%_]|\\[a-zA-Z]+[0-9]*(\{\})?|\$(\\[a-z]+|\^2)\$|\{[\[\]*]\}|-\{\}", "", tex
    )


@given(st.text(st.characters(max_codepoint=126), max_size=40))
@settings(deadline=None)
def test_tex_special_characters_are_escaped(text: str) -> None:
    assert not set(_unescaped(escape_tex(text))) & set("\\{}$&#%_^~<>|[]*`'\"")
    assert "--" not in escape_tex(text)


def test_latex_has_booktabs_rules_and_equal_rows() -> None:
    table = pd.DataFrame(
        {"Estimate": [1.0, 2.5e-9], "kind": [AWKWARD, "x"]}, index=["[a]", "*" + AWKWARD]
    )
    tex = summary(
        table, title=AWKWARD, head=((AWKWARD, AWKWARD), ("b", "c")), notes=(AWKWARD,)
    ).to_latex()
    body = tex[tex.index(r"\toprule") : tex.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [2, 2, 2]
    # A bracket or star after a line break would be read as its argument.
    assert not any(row.lstrip().startswith(("[", "*")) for row in rows)
    assert r"$2.500 \times 10^{-9}$" in body
    assert len(re.findall(r"(?<!\\)\{", tex)) == len(re.findall(r"(?<!\\)\}", tex))
    assert re.findall(r"\\begin\{(\w+)\}", tex) == ["table", "tabular", "tabular", "minipage"]


def test_latex_keeps_points_aligned_with_space_of_the_missing_digits() -> None:
    table = pd.DataFrame({"Estimate": [123456.0, 0.5]}, index=["a", "b"])
    tex = summary(table).to_latex()
    assert r"a & $123456$\phantom{.0000} \\" in tex
    assert r"b & $0.5000$ \\" in tex
