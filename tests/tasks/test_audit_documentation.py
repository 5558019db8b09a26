"""Which catalog a column leads to: told by the lines of the page, and by nothing less."""

from __future__ import annotations

import pytest
from stand_ins.row_audit import facts_of
from task_examples import chain

from synth.dataset.audit.documentation import Documentation
from synth.dataset.audit.facts import Entity
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import CheckResult, Evidence, Hop, Node
from synth.tasks.draft import finish

PROVENANCE = Provenance(
    dataset="d", stage="tasks", stage_version=1, fingerprint="f", seed=0, source="hand", source_sha256="0"
)
PAGE = "kite.html"
LINE = "framecord oid (references kite_cord.oid) The cord that holds the frame"
OTHER = "framesail oid (references kite_sail.oid) The sail on it"


def judged(cue: str, text: str) -> list[tuple[str, str]]:
    names = ("kite_frame", "kite_cord", "kite_sail")
    facts = facts_of(
        [("kite_frame", "references", target) for target in names[1:]],
        [Entity(name, name, "page", (), PAGE, "train") for name in names],
    )
    nodes = [Node(id=name, name=name, kind="page", document_id=PAGE) for name in ("kite_frame", "kite_cord")]
    evidence = Evidence(document_id=PAGE, start=0, end=len(LINE), quote=LINE)
    hop = Hop(source=nodes[0], target=nodes[1], relation="references", forward=True, evidence=evidence, cue=cue)
    sound = finish(chain(), [CheckResult(check="all", outcome="passed")], PROVENANCE, 0)
    task = sound.model_copy(update={"walk": sound.walk.model_copy(update={"hops": (hop,)})})
    audited = Documentation(facts)
    assert audited.pages(task) == {PAGE}
    audited.read(PAGE, text)
    return [problem for problem in audited.judge(task)[0] if problem[0] == "unique"]


@pytest.mark.parametrize(
    ("cue", "text", "clear"),
    [
        ("Which catalog would I join on the framecord column of", f"{LINE}\n{OTHER}", True),
        ("Which catalog would I join on a column of", f"{LINE}\n{OTHER}", False),
        ("Which catalog would I join on the framecords column of", f"{LINE}\n{OTHER}", False),
        ("Which catalog would I join on the framecord column of", f"{LINE}\n{OTHER}\n{LINE}", False),
    ],
)
def test_a_column_that_is_named_tells_catalogs_apart(cue: str, text: str, clear: bool) -> None:
    assert judged(cue, text) == ([] if clear else [("unique", "hop 0 (references) leads to 'kite_sail' as well")])


@pytest.mark.parametrize("stranger", [False, True])
def test_a_pair_is_not_unique_when_both_pages_name_a_function_without_an_entry(stranger: bool) -> None:
    pages = [Entity(page, page, "page", (), page, "train") for page in ("kites.html", "sails.html")]
    named = ("knots.tie", "knots.cut", "knots.dye")
    facts = facts_of([], [*pages, *(Entity(name, name, "function", (), "knots.html", "train") for name in named)])
    target = Node(id="knots.tie", name="knots.tie", kind="function", document_id="knots.html")
    texts = {"kites.html": "Call tie() or cut() first.", "sails.html": "Here tie() follows dye()."}
    if stranger:
        texts = {page: f"{text} Never before braid() returned." for page, text in texts.items()}
    hops = tuple(
        Hop(
            source=Node(id=page, name=page, kind="page", document_id=page),
            target=target,
            relation="named_on",
            forward=True,
            evidence=Evidence(document_id=page, start=0, end=4, quote=text[:4]),
            cue=page,
        )
        for page, text in texts.items()
    )
    sound = finish(chain(), [CheckResult(check="all", outcome="passed")], PROVENANCE, 0)
    walk = sound.walk.model_copy(update={"hops": hops, "shape": "conjunction"})
    audited = Documentation(facts)
    task = sound.model_copy(update={"walk": walk, "shape": "conjunction"})
    assert audited.pages(task) == set(texts)
    for page, text in texts.items():
        audited.read(page, text)
    problems, unsure = audited.judge(task)
    assert not unsure
    assert [rule for rule, _ in problems] == (["unique"] if stranger else [])
    assert all("braid" in what for _, what in problems)
