"""The choices of the scripted teacher over pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf

from synth.agents.scripted.choosing import is_end
from synth.agents.scripted.matching import likeness, same_name, similarity
from synth.agents.scripted.options import Option, holds, listed_with, of_other_kinds, options_in, subject, term
from synth.agents.scripted.options import names as names_it
from synth.agents.scripted.pages.evidence import overlaps, passage
from synth.agents.scripted.pages.gold_reading import STATED
from synth.agents.scripted.pages.gold_results import FITS, GoldResults
from synth.agents.scripted.pages.shared import shared_by
from synth.agents.scripted.pages.speaking import really_about
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import Value
from synth.environments.answers import judge
from synth.environments.passages import Passage
from synth.environments.shown import Hit
from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Hop
from synth.text.words import fold

_WHOLE_PAGES = frozenset(("page", "module", "index"))
"""Kinds of things that a whole document is about: a link to any place in it leads to them."""

_LOOKS = 2
"""Searches from one tentative candidate; with several, exhausting each would make runs too long."""

__all__ = ["PageGoldChooser"]


class PageGoldChooser(GoldResults):
    # Sets: which of the hops behind a clue.

    def look_at(self, clue: int, member: Value | None, document: SeenDocument | None = None) -> None:
        hops = self._all_hops(clue)
        if member is not None:
            lists = self._state.lists(clue)
            found = [hop for hop in hops if is_end(hop.target if lists else hop.source, member)]
        else:
            page = document.document if document is not None else None
            about = [hop for hop in hops if hop.target.document_id == page]
            here = [hop for hop in hops if hop.evidence.document_id == page]
            new = [hop for hop in here if self._state.listed(clue, hop.target.name) is None]
            found = about or new
        self._looks_at[clue] = next(iter(found), None)

    def members(self, clue: int, name: str, document: SeenDocument) -> list[Option]:
        found: list[Option] = []
        for hop in self._all_hops(clue):
            self._looks_at[clue] = hop
            option = self._option(hop, name, document)
            if option is not None and all(option != other for other in found):
                found.append(option)
        if self._is_sifted(clue):
            # Who lists a list lists all of it: what fails a further condition is struck when that was read.
            for listing in list(found):
                others = {option.text: option for option in options_in(listing.sentence, "entity")}
                with_it = [others[text] for text in listed_with(listing) if text in others]
                question = self._state.reading.question
                left = of_other_kinds(listing.place, ((one.text, one.place) for one in with_it), question)
                known = {*left, *(option.text for option in found)}
                found += [option for option in with_it if option.text not in known]
            known = {option.text for option in found}
            found += [option for option in self._named_on(clue, name, document) if option.text not in known]
        places = {sentence.text: place for place, sentence in enumerate(document.sentences())}
        return sorted(
            found, key=lambda option: (places.get(option.sentence.text, 0), option.sentence.text.find(option.text))
        )

    def _named_on(self, clue: int, name: str, document: SeenDocument) -> list[Option]:
        """What the page of the start is known to name for the clue, whether or not it meets the other conditions."""
        kinds = {self._folder(hop) for hop in self._all_hops(clue)} - {""}
        said = [s for s in document.sentences() if s.text != s.heading and self._says(clue, s)]
        options = [one for s in said if self.is_source(clue, name, document) for one in options_in(s, "entity")]
        return [one for one in options if (one.document or "").rpartition("/")[0] in kinds and one.text != name]

    def _is_sifted(self, clue: int) -> bool:
        """Whether a further condition on the same set will take members away."""
        clues = self._state.reading.clues
        return any(other.target == clues[clue].target for number, other in enumerate(clues) if number != clue)

    def candidates(self, clue: int, name: str, hits: Sequence[Hit]) -> list[Hit]:
        wanted = {hop.target.document_id for hop in self._all_hops(clue)} - {None}
        gold = [hit for hit in hits if hit.document in wanted]
        folders = {hit.document.rpartition("/")[0] for hit in gold}
        alike = [hit for hit in hits[:8] if hit not in gold and hit.document.rpartition("/")[0] in folders]
        # Passing over a result that states it would mean knowing what was never read.
        likely = [hit for hit in alike if self._seems(clue, name, hit)][: self._config.rivals]
        likely += [h for h in hits if h not in gold and h not in likely and self.tells(clue, name, h)]
        listed = self._state.members.get(self._state.reading.clues[clue].target, [])
        likely = [
            hit
            for hit in likely
            if self._line_against(clue, hit) is None and not any(holds(hit.title, one.name) for one in listed)
        ]
        open_yet = [hit for hit in alike if self._shown(clue, hit) is not False]
        other = self._detour(clue, open_yet) if not likely else None
        return [*gold, *likely, *([other] if other is not None else [])]

    def stops_listing(self, clue: int, names: Sequence[str]) -> bool:
        return False

    def source_hit(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        # Two clues may start from the same name, and a test may reach for the candidate's page: any gold page of that
        # name is right.
        wanted = self._pages_of(clue, name)
        gold = next((hit for hit in hits if hit.document in wanted), None)
        if gold is not None:
            # Another page is worth a look only where the title leaves a doubt.
            bar = 0.3 if not same_name(gold.title, name) else 1.0
            clear = fold(gold.title) == fold(name)
            alike = [
                h
                for h in hits
                if h is not gold
                and not (clear and fold(h.title) != fold(name))
                and (same_name(h.title, name) or likeness(h.title, name) >= bar)
            ]
            if self._must_meet():
                alike += [h for h in hits if h is not gold and h not in alike and holds(h.title, name)]
            return self._detour(clue, alike) or gold
        if wanted:
            return None
        return next((hit for hit in hits if same_name(hit.title, name)), None)

    def related_hit(self, clue: int, name: str, hits: Sequence[Hit]) -> Hit | None:
        hop = self._hop(clue)
        if hop is not None and self._off_the_walk(clue):
            folder = self._folder(hop)
            alike = [hit for hit in hits if folder and hit.document.rpartition("/")[0] == folder]
            shown = {hit.document: self._shown(clue, hit) for hit in alike if name and holds(hit.text, name)}
            # Where it says what else is asked for, it is worth a look whatever it says of the name.
            meets = next((hit for hit in alike if shown.get(hit.document)), None)
            likely = (h for h in alike if self._seems(clue, name, h) and shown.get(h.document, False) is not False)
            return meets or next(likely, None)
        if hop is None:
            documents: set[str | None] = set(self._task.gold_documents)
        else:
            documents = {hop.target.document_id, hop.evidence.document_id} - {None, hop.source.document_id}
            if hop.source.document_id is None or not name:
                documents.add(hop.evidence.document_id)
        gold = next((hit for hit in hits if hit.document in documents), None)
        if gold is None:
            return self._likely_hit(clue, name, hits)
        return (
            self._rival_hit(clue, name, hits, gold) or self._detour(clue, self._as_good(clue, name, hits, gold)) or gold
        )

    def searches_on(self, clue: int, made: int) -> bool:
        return made < _LOOKS or not self._off_the_walk(clue)

    def overlooks(self, clue: int, name: str, document: SeenDocument) -> bool:
        return False

    def option(self, clue: int, name: str, document: SeenDocument) -> Option | None:
        hop = self._hop(clue)
        if hop is None:
            return None if clue in self._looks_at else self._given(document)
        if clue not in self._looks_at and self._off_the_walk(clue):
            return self._as_read(clue, hop, name, document)
        option = self._option(hop, name, document)
        if clue in self._looks_at:
            return option
        return self._rival(clue, option) or option if option is not None else self._beside(clue, hop, name, document)

    def _beside(self, clue: int, hop: Hop, name: str, document: SeenDocument) -> Option | None:
        """Another candidate that the source's page names when the right one is not among them: passing over it would
        mean knowing what was never read. Only while few were tried and a further condition will decide."""
        tried = sum(number == clue for number, _ in self._state.dismissed)
        if not self._decided_later(clue) or tried >= self._config.rivals or not self.is_source(clue, name, document):
            return None
        if self.better_result(clue, name) is not None:
            return None  # it comes before any of which only one thing is known
        return self._as_read(clue, hop, name, document) if self.states(clue, document) else None

    def _option(self, hop: Hop, name: str, document: SeenDocument) -> Option | None:
        here = hop.evidence.document_id == document.document
        stated_at = next((s for s in document.sentences() if here and self._is_evidence(hop, s)), None)
        whole = passage(hop.evidence.quote, list(document.sentences())) if here else []
        best: tuple[float, Option] | None = None
        for sentence in document.sentences():
            option = self._gold_option(hop, sentence)
            if option is None or (self._is_title_only(sentence, document)):
                continue
            if self.says is None and not here and option.document is None:
                continue  # another manual page has an option of that name, too
            stated = here and (self._is_evidence(hop, sentence) or any(sentence is one for one in whole))
            if not stated and self.says is not None and self.says(sentence.text, hop.relation, hop.forward) is False:
                continue  # it names the right thing and says something else of it
            if self.says is None and here and not stated and document.unread is not None:
                continue  # where the name merely comes up, before the passage was read
            fit = 2.0 if stated else similarity(hop.cue, sentence.text, self._lexicon, (name, option.text))
            if fit >= 0.25 and (best is None or fit > best[0]):
                best = fit, option
        if best is not None:
            return best[1]
        # The passage is there and the name stands above it, as the term of its entry.
        above = subject(stated_at, document.title) if stated_at is not None else []
        name_above = next((text for text in above if self._is_target(hop, text)), None)
        return Option(name_above, stated_at) if name_above is not None and stated_at is not None else None

    def _is_evidence(self, hop: Hop, sentence: Passage) -> bool:
        """Whether a sentence is the evidence of a hop: another line may hold all its names and say something else."""
        other = self.says is not None and self.says(sentence.text, hop.relation, hop.forward) is False
        return not other and overlaps(hop.evidence.quote, sentence.text)

    def _is_target(self, hop: Hop, text: str) -> bool:
        return any(same_name(text, name) for name in (hop.target.name, *hop.target.aliases))

    def _rival(self, clue: int, gold: Option) -> Option | None:
        """The first name of the same list that was not put aside yet, where others tell right from wrong: who goes
        straight to the right one has used what was not read."""
        clues = self._state.reading.clues
        names = listed_with(gold)
        places = {item.anchor: item.place for item in gold.sentence.links}
        left = of_other_kinds(gold.place, ((name, places.get(name)) for name in names), self._state.reading.question)
        out = [name for name in names if self.shown_to_fail(clue, _document(places.get(name))) is not None]
        names = [name for name in names if name not in left and (name not in out or name == gold.text)]
        both = shared_by(self._state, self.denies, clue, ((name, _document(places.get(name))) for name in names))
        told = [name for name in names if self.shown_to_meet(clue, _document(places.get(name))) is not None]
        names = both if gold.text in both else [*told, *(name for name in names if name not in told)]
        if not self._decided_later(clue) or gold.text not in names or names.index(gold.text) > self._config.rivals:
            return None
        known = {value.name for value in self._state.values.values()} | {other.name for other in clues}
        options = {option.text: option for option in options_in(gold.sentence, "entity")}
        before = [options[name] for name in names[: names.index(gold.text)] if name in options and name not in known]
        return next((one for one in before if not self._state.is_dismissed(clue, one.text, one.document)), None)

    def _is_title_only(self, sentence: Passage, document: SeenDocument) -> bool:
        return fold(sentence.text) == fold(document.title)

    def _given(self, document: SeenDocument) -> Option | None:
        """A question of the user's, without a walk: any place where the answer stands in a sentence that fits."""
        task = self._task
        best: tuple[float, Option] | None = None
        for sentence in document.sentences():
            option = _visible(sentence, task.answer_kind, (task.answer, *task.answer_aliases), None, whole=False)
            if option is not None:
                fit = similarity(task.question, sentence.text, self._lexicon, (option.text,))
                if best is None or fit > best[0]:
                    best = fit, option
        return best[1] if best else None

    def _gold_option(self, hop: Hop, sentence: Passage) -> Option | None:
        kind: ValueKind = "entity"
        if hop.target.document_id is None and hop.target.kind in ("date", "year", "number", "quantity", "text"):
            kind = hop.target.kind  # type: ignore[assignment]
        names = (
            (hop.target.name, hop.target.id, *hop.target.aliases)
            if kind != "entity"
            else (hop.target.name, *hop.target.aliases)
        )
        return _visible(sentence, kind, names, hop.target.document_id, whole=hop.target.kind in _WHOLE_PAGES)

    def support(self, clue: int, name: str, document: SeenDocument) -> Passage | None:
        hop = self._hop(clue)
        off = hop is None or hop.target.document_id != document.document or self._off_the_walk(clue)
        if hop is None or off:
            # What fails a further condition belongs on a list all the same; that condition strikes it.
            known = hop or next(iter(self._all_hops(clue)), None)
            if known is None or not (self._decided_later(clue) if hop is not None else self._is_sifted(clue)):
                return None
            alike = document.document.rpartition("/")[0] == self._folder(known)
            if not alike and self.says is not None:
                return None  # another kind of thing than the question asks for
            if self.says is not None and really_about(document) is not None:
                return None
            return self._stated(clue, name, name, document, FITS if alike else STATED)
        if not self._is_target(hop, document.title) and hop.target.kind != "page":
            return None  # an entry on this page: its name must be seen, which is for ``option`` to find
        stated = [
            sentence
            for sentence in document.sentences()
            if hop.evidence.document_id == document.document
            and sentence.text != sentence.heading
            and self._is_evidence(hop, sentence)
        ]
        mentioning = [s for s in stated if name.casefold() in s.text.casefold()] if name else stated
        if mentioning or stated:
            return (mentioning or stated)[0]
        if hop.evidence.document_id == document.document and document.unread is not None:
            return None
        fitting = [s for s in document.sentences() if (name and name.casefold() in s.text.casefold())]
        if not fitting and not name:
            fitting = list(document.sentences())
        return max(fitting, key=lambda s: similarity(hop.cue, s.text, self._lexicon, (name,)), default=None)

    def subject(self, clue: int, document: SeenDocument, sentence: Passage) -> str:
        hop = self._hop(clue)
        known = subject(sentence, document.title)
        return next((text for text in known if hop is not None and self._is_target(hop, text)), document.title)

    def confirmation(self, clue: int, name: str, candidate: str, document: SeenDocument) -> Passage | None:
        hop = self._hop(clue)
        if hop is None:  # it stands on a list and is not on the walk
            other = candidate if self.is_source(clue, name, document) else name
            return self._stated(clue, name, other, document, inf) if self.says is not None else None
        target = (hop.target.name, *hop.target.aliases)
        known = self._state.values.get(self._state.reading.clues[clue].target)
        page = known.document if known is not None else hop.target.document_id
        if page != hop.target.document_id and not any(same_name(candidate, end) for end in target):
            return self._stated(clue, name, candidate if self.is_source(clue, name, document) else name, document)
        if hop.evidence.document_id == document.document:
            for sentence in document.sentences():
                if sentence.text != sentence.heading and self._is_evidence(hop, sentence):
                    return sentence
        other = candidate if self.is_source(clue, name, document) else name
        for sentence in document.sentences():
            mentioned = other.casefold() in sentence.text.casefold()
            if not mentioned or self.denies(clue, sentence):
                continue
            if similarity(hop.cue, sentence.text, self._lexicon, (name, candidate)) >= 0.25:
                return sentence
        return None

    def crosschecks(self, value: Value | None) -> bool:
        if value is not None and value.document is not None and not self._right(value.name):
            return False  # the page has the name in full: that look comes first
        return float(self._generator.random()) < self._config.crosscheck

    def starts_with_candidate(self, clue: int) -> bool:
        hop = self._hop(clue)
        return hop is None or hop.evidence.document_id == hop.target.document_id

    def verifies(self, value: Value) -> bool:
        if not self._right(value.name) and value.document is not None:
            return True
        return float(self._generator.random()) < self._config.verify

    def _right(self, answer: str) -> bool:
        task = self._task
        if task.answer_parts:
            golds = [(part.answer, part.aliases, part.kind) for part in task.answer_parts]
        else:
            golds = [(task.answer, task.answer_aliases, task.answer_kind)]
        return any(judge(answer, gold=gold, aliases=more, kind=kind).correct for gold, more, kind in golds)

    def answer(self, value: Value, title: str | None) -> str:
        """The name as read, else as the title, the link or a term of the page has it: all of them were seen."""
        options = [value.name, title or "", (value.place or "").partition("#")[2]]
        page = self._state.seen.documents.get(value.document or "")
        options += [name for s in page.sentences() if (name := term(s.text)) is not None] if page else []
        return next((option for option in options if option and self._right(option)), value.name)


def _document(place: str | None) -> str | None:
    return None if place is None else place.split("#", 1)[0]


@lru_cache(maxsize=32768)  # all that was read is gone through again in each turn
def _visible(
    sentence: Passage, kind: ValueKind, names: tuple[str, ...], document: str | None, *, whole: bool
) -> Option | None:
    """The gold target, if this sentence shows it."""
    options = options_in(sentence, kind)
    whole = whole and sentence.document != document  # a page's links to its own places do not lead to it
    for option in options:
        _, _, fragment = (option.place or "").partition("#")
        named = any(names_it(text, name) for text in (option.text, fragment) for name in names if text)
        if document is not None and option.document == document and (not fragment or named or whole):
            return option
    for name in sorted(names, key=lambda name: (-len(name), name)):
        if holds(sentence.text, name) and name in sentence.text:
            return Option(name, sentence)
        if sentence.text.casefold().startswith(name.casefold()) and holds(sentence.text, name):
            return Option(sentence.text[: len(name)], sentence)  # a capital, as the sentence begins with it
    return next((o for o in options if any(_is_same(o.text, name, kind) for name in names)), None)


@lru_cache(maxsize=32768)
def _is_same(text: str, gold: str, kind: ValueKind) -> bool:
    return judge(text, gold=gold, kind=kind).correct is True
