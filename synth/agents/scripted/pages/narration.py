"""What a planner over pages says of results and pages: what it opens, what it quotes, why it puts a page aside."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.scripted.credibility import CredibilityCheck
from synth.agents.scripted.matching import (
    FUNCTION_WORDS,
    content_stems,
    dangling,
    likeness,
    quotable,
    same_name,
    short,
    strip,
)
from synth.agents.scripted.options import Option, holds, is_row, kind_called, listed_with, of_other_kinds, term
from synth.agents.scripted.pages.long_documents import LongDocuments
from synth.agents.scripted.pages.shared import pages_of_source
from synth.agents.scripted.pages.speaking import really_about
from synth.agents.scripted.reading import Clue
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import Value
from synth.agents.scripted.wording import is_noun_phrase
from synth.environments.passages import Passage, passages_of
from synth.environments.shown import Hit
from synth.text.inflection import article
from synth.text.lists import listed
from synth.text.words import fold

__all__ = ["PageNarration"]

_RANKED = 0.3
"""How often it is said where among the results a page stands."""
_AMONG = 0.6
"""Below it, where that is not said, what else came up is named."""
_ALIKE = 0.3
"""How like a name a title must be to be said to resemble it."""
_BELOW = 14
"""Lines below a term among which what is said of it stands: what it takes and returns may come first."""
_PLACED = 0.5
"""How often a quotation comes with where on the page it stands."""
_WANTED = 0.3
"""How often a thought recalls why the page was opened before it quotes the page."""


class PageNarration(LongDocuments):
    """The words of a planner over pages."""

    credibility: CredibilityCheck | None = None
    quoted: str | None = None
    """The document that was quoted last in this turn."""

    def _say_why(self, number: int, name: str, page: SeenDocument, intent: str) -> None:
        if self.credibility is not None and self.credibility.rejects(number, name, page, self.thoughts):
            return
        said = self._speaking_of(name, page) if intent == "dismiss_why_silent" else []
        other = self._other_than(number, name, said)
        if other is not None:
            self._say_otherwise(self.state.reading.clues[number], name, short(page.title), other)
        elif said and (about := really_about(page)) is not None:
            self.thoughts.add("dismiss_why_about", name=about, title=short(page.title))
        elif not said:
            stated = self.chooser.contrary(number, name, page) if intent == "dismiss_why_silent" else None
            if stated is not None:
                about = (
                    name if not self.state.reading.clues[number].value else strip(self.state.reading.clues[number].cue)
                )
                self.thoughts.add("dismiss_why_other", title=short(page.title), quote=stated.text, name=about)
            else:
                self.thoughts.add(intent, name=name, title=short(page.title))

    def _say_otherwise(self, clue: Clue, name: str, title: str, said: Passage) -> None:
        """Both: what is said of ``name`` there, and what the question says."""
        cue = strip(clue.cue)
        plain = dangling(cue) or '"' in cue
        intent = "dismiss_why_plain" if plain else "dismiss_why_says"
        self.thoughts.add(intent, name=name, title=title, quote=said.text.replace('"', "”"), cue=cue)

    def _speaking_of(self, name: str, page: SeenDocument) -> list[Passage]:
        """Sentences of a page that name ``name``; with any, it can't be rejected as one that has none."""
        return [s for s in page.sentences() if s.text != s.heading and holds(s.text, name)]

    def _other_than(self, number: int, name: str, said: Sequence[Passage]) -> Passage | None:
        """The first sentence that says something else than the question asks for: one that says just that is no reason
        against the page."""
        check = self.credibility
        return next(
            (
                s
                for s in said
                if self.chooser.denies(number, s, name) or check is None or not check.fits(number, name, s)
            ),
            None,
        )

    def fails(self, clue: Clue, name: str, value: Value) -> None:
        page = self.seen.documents.get(value.document or "")
        number = self.state.reading.clues.index(clue)
        otherwise = self.chooser.contrary(number, name, page) if page is not None else None
        read = pages_of_source(self.state, number)
        if page is None and read:
            self.thoughts.add("names_others", title=short(read[0].title), name=short(value.name))
            return
        if page is None or otherwise is None:
            said = self._speaking_of(name, page) if page is not None else []
            other = self._other_than(number, name, [one for one in said if quotable(one.text)])
            cue = strip(clue.cue)
            if other is not None:
                self._say_otherwise(clue, name, short(value.name), other)
            elif clue.value and '"' not in cue and fold(cue).split()[-1] not in FUNCTION_WORDS:
                self.thoughts.add("dismiss_why_unsaid", title=value.name, cue=cue)
            elif not said:
                self._say_others(number, name, value)
                about = f"“{name}”" if clue.value else name
                self.thoughts.add("dismiss_why_silent", title=value.name, name=about)
            return
        current = self.seen.documents.get(self.seen.current or "")
        opened = current is not None and current is not page and self._just_read(current)
        if current is not None and opened and self.chooser.is_source(number, name, current):
            # It was opened for this condition.
            if not self.chooser.states(number, current):
                self.thoughts.add("silent", title=short(current.title))
            elif not self._speaking_of(value.name, current):
                self.thoughts.add("names_others", title=short(current.title), name=short(value.name))
        self.thoughts.add("dismiss_why_other", title=short(page.title), quote=otherwise.text, name=name)

    def _say_others(self, number: int, name: str, value: Value) -> None:
        """Say that the condition's other page was read as well, and that it names others."""
        for page in self.seen.documents.values():
            other = page.document != value.document and self.chooser.is_source(number, name, page)
            if other and self.chooser.states(number, page) and not self._speaking_of(value.name, page):
                self.thoughts.add("names_others", title=short(page.title), name=short(value.name))
                return

    def _just_read(self, page: SeenDocument) -> bool:
        return page.turns[-1] == self.seen.turns - 1

    def _introduce(self, number: int, hits: Sequence[Hit], chosen: Hit, name: str) -> None:
        if short(chosen.title) in self.state.reading.pages and not same_name(chosen.title, name):
            self.thoughts.add("hit_told", title=short(chosen.title), name=name)
            return
        if likeness(chosen.title, name) < _ALIKE and not same_name(chosen.title, name):
            self.say_hits(number, name, [chosen])  # nothing in the title, then what is shown of the page
            return
        titles = list(dict.fromkeys(short(hit.title) for hit in hits))
        exact = fold(short(chosen.title)) == fold(name)
        if not same_name(chosen.title, name) or (not exact and any(fold(title) == fold(name) for title in titles)):
            self.thoughts.add("hit_alike", title=short(chosen.title), name=name)
            return
        above = self._above(chosen)
        draw = float(self.thoughts.generator.random())
        if above is not None and draw < _RANKED:
            if not above:
                self.thoughts.add("hit_first", title=short(chosen.title))
            elif fold(above) != fold(short(chosen.title)):
                self.thoughts.add("hit_below", title=short(chosen.title), above=above)
            else:
                self.thoughts.add("hit_named", title=short(chosen.title))
        elif len(titles) > 1 and draw < _AMONG:
            near = sorted(titles, key=lambda title: (-likeness(title, name), titles.index(title)))[:3]
            shown = [title for title in titles if title in {*near, short(chosen.title)}]
            self.thoughts.add("hit_among", titles=listed(shown), title=short(chosen.title))
        else:
            self.thoughts.add("hit_named", title=short(chosen.title))

    def quote(self, sentence: Passage, title: str, about: str, *, leads_on: bool = True) -> None:
        """``leads_on``: the link in it is what counts, and not only what it says."""
        last = self.thoughts.said.split('"')[-2:-1]
        again = self.quoted == sentence.document and last == [sentence.text]
        self.quoted = sentence.document
        if again:
            self.thoughts.add("quote_again")
            return
        text = sentence.text
        if not quotable(text):
            at = max(text.find(about), 0)
            end = text.find(" ", min(len(text), at + len(about) + 90))
            text = text[text.rfind(" ", 0, max(0, at - 90)) + 1 : end if end > 0 else len(text)]
        intent = "quote_plain" if self.thoughts.leads_in else self._place_of(sentence, about if leads_on else "")
        if intent == "quote" and sentence.document != self.seen.current:
            intent = "quote_elsewhere"  # "this page" is the one in view
        slots = {"quote": text.replace('"', "”") if '"' in text else text, "heading": sentence.heading}
        self.thoughts.add(intent, title=title, **slots)

    def say_hits(self, number: int, name: str, chosen: Sequence[Hit]) -> None:
        """Say what is opened, and of a single page why."""
        titles = list(dict.fromkeys(short(hit.title) for hit in chosen))
        quote = self._telling(number, name, chosen[0])
        if titles[1:]:
            self.thoughts.add("open_these", titles=listed(titles))
        elif quote:
            self.thoughts.add("hit_snippet", title=titles[0], quote=quote)
        else:
            self.thoughts.add("hit_try", title=titles[0])

    def _telling(self, number: int, name: str, hit: Hit) -> str:
        """The sentence of a snippet that made the agent look; empty when none stands out."""
        telling = self.chooser.shown_to_meet(number, hit.document)
        if telling is not None and quotable(telling.text):
            return telling.text.strip("… ")  # it tells this one from others of which the rest is true as well
        wanted = content_stems(self.state.reading.clues[number].cue)
        best, score = "", 0
        lines = passages_of(hit.text, hit.document, hit.title, 0)
        for sentence in [s for s in lines if not self.chooser.denies(number, s)] or lines:
            shared = len(wanted & content_stems(sentence.text))
            if name and name.casefold() not in sentence.text.casefold():
                continue
            text = sentence.text.strip("… ")
            if quotable(text) and shared > score:
                best, score = text, shared
        return best

    def rule_out(self, number: int, name: str, document: str | None) -> bool:
        """Put aside, with the line, what a result shows to fail a condition."""
        line = self.chooser.shown_to_fail(number, document)
        if line is not None:
            self.thoughts.add("out_in_results", title=name, quote=line.text.strip("… ").replace('"', "”"))
            self.note("dismiss", name)
        return line is not None

    def of_other_kinds(self, option: Option) -> list[str]:
        """What is listed with an option and is of another kind than the question asks for."""
        places = {item.anchor: item.place for item in option.sentence.links}
        listing = [(name, places.get(name)) for name in listed_with(option)]
        return of_other_kinds(option.place, listing, self.state.reading.question)

    def say_kind(self, option: Option, others: Sequence[str]) -> None:
        """Say that ``others`` are of another kind than the option."""
        kind = kind_called((option.place or "").partition("/")[0], self.state.reading.question)
        self.thoughts.add("of_kind", kind=f"{article(kind)} {kind}", titles=listed(others))

    def entry_of(self, clue: Clue, sentence: Passage) -> Passage | None:
        """What is said below a term or a heading that is quoted for a clue, where that alone does not say it."""
        document, wanted = self.seen.documents.get(sentence.document), content_stems(strip(clue.cue))
        lines = list(document.pages.get(sentence.page, ())) if document is not None else []
        at = next((n for n, one in enumerate(lines) if one.text == sentence.text), None)
        headed = sentence.heading == sentence.text
        if at is None or not wanted or not (headed or term(sentence.text) is not None) or is_row(sentence.text):
            return None
        own = len(wanted & content_stems(sentence.text))
        for one in lines[at + 1 : at + _BELOW]:
            if sentence.text not in one.parents and not (headed and one.heading == sentence.text):
                return None
            if len(wanted & content_stems(one.text)) > max(own, len(wanted) / 2) and quotable(one.text):
                return one
        return None

    def want(self, clue: Clue) -> None:
        """Now and then, what a page was opened for, in the question's own words."""
        cue = strip(clue.cue)
        plain = is_noun_phrase(cue) and cue[0].islower() and not dangling(cue) and '"' not in cue
        alone = sum(other.cue == clue.cue for other in self.state.reading.clues) == 1
        if plain and alone and not self.thoughts and float(self.thoughts.generator.random()) < _WANTED:
            self.thoughts.add("wanted_here", cue=cue)

    def _above(self, chosen: Hit) -> str | None:
        """The title of the best result of the last turn's search that brought up ``chosen``; empty where it is that,
        None where none did: the order of an older list is no guide."""
        for search in reversed(self.seen.searches):
            if search.turn == self.seen.turns - 1 and any(hit.document == chosen.document for hit in search.hits):
                first = search.hits[0]
                return "" if first.document == chosen.document else short(first.title)
        return None

    def _place_of(self, sentence: Passage, about: str) -> str:
        """The intention that quotes ``sentence`` and says where on its page it stands, or one that only quotes."""
        document = self.seen.documents.get(sentence.document)
        page = document.pages.get(sentence.page, ()) if document is not None else ()
        if document is None or float(self.thoughts.generator.random()) >= _PLACED:
            return "quote"
        lines = [one.text for one in page if one.text != one.heading and fold(one.text) != fold(document.title)]
        at = lines.index(sentence.text) if sentence.text in lines else None
        ways: list[str] = []
        if at == 0 and sentence.page == 1:
            ways.append("quote_top")
        elif at is not None and at == len(lines) - 1 and document.total == 1:
            ways.append("quote_end")
        named = sentence.heading[:1].isalnum() and '"' not in sentence.heading
        if named and fold(sentence.heading) != fold(document.title):
            ways.append("quote_under")
        if any(item.anchor == about for item in sentence.links):
            ways.append("quote_linked")
        return ways[int(self.thoughts.generator.integers(len(ways)))] if ways else "quote"
