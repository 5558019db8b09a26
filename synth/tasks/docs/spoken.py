"""Questions for what a sentence of reference prose speaks of."""

from __future__ import annotations

import re
from collections.abc import Collection

from synth.tasks.docs.english import clause, is_fragment, without_remarks
from synth.tasks.docs.leaks import leaks
from synth.text.asked import AskedSentence, asked_of, commented, leans
from synth.text.inflection import capital, third_person
from synth.text.subjects import KINDS, PLURAL_NOUNS, Statement, is_identifier
from synth.text.verbs import THIRD_PERSON, VERBS
from synth.text.words import FUNCTION_WORDS, content_words

__all__ = ["answered", "on_page", "statement_question"]

_HOW_MANY = frozenset("multiple several many some few various".split())
"""In front of a noun they are no part of what it is called: "Multiple BPF filters per device"."""
_ASIDE = re.compile(r"\b(?:of course|arguably|simply|actually|really|basically|merely|probably|perhaps|hopefully)\b")
_OF_PEOPLE = re.compile(
    r"(?:is|was) (?:born|educated|raised(?! if\b| when\b| by\b| unless\b)|married|elected|appointed|nominated|knighted|"
    r"ordained|buried|survived|"
    r"(?:an?|the) (?:[\w-]+ ){0,4}(?:actor|actress|director|singer|player|politician|writer|author|maintainer|composer|"
    r"musician|lawyer|scientist|professor))\b"
    r"|.*\b(?:his|her|himself|herself)\b"
)
_PEOPLE = frozenset(
    "people person managers manager employees employee staff users user developers developer administrators authors "
    "administrator maintainers maintainer members member author reviewers reviewer customers customer players player "
    "contributors contributor guests attackers attacker".split()
)
"""Nouns of people, who are asked for by "who"."""
_JOINED = re.compile(r"\b(?:and|or|but) (?:[a-z]+ly )?([a-z]+)")
_ALSO_DO = re.compile(r"\b(?:and|or|but) (?:also|then|always|often|never|sometimes) ")
_NEW_SUBJECT = (
    r",? and (?:that )?[a-z-]+ (?:[a-z]+s )?(?:is|was|are|were)\b"
    r"|,? and (?![a-z]+ly )[a-z-]+ (?:occurs?|happens?|takes place|follows|remains?|becomes?|exists?)\b"
    rf"|,? and (?!(?:then|also|now|either|both|thus|so|later|often)\b|[a-z]+ly )[\w.]+ "
    rf"(?:{'|'.join(sorted(THIRD_PERSON - PLURAL_NOUNS))}) (?:the|an?|its|all|no)\b"
    r"|, and [a-z]+s (?!.{0,12}ed\b)[a-z]+ (?:with|to|the|an?|from|on|in|their|its)\b"
)
""" "runs on the server, and clients talk to it": the second half is said of something else."""
_SIDE_BY_SIDE = (
    rf",(?: and)? (?:an?|each|every|one) (?:[\w-]+ ){{1,2}}(?:{'|'.join(sorted(THIRD_PERSON))})\b"
    rf"|,(?: and)? (?:the|any) (?:[\w-]+ ){{1,2}}(?:{'|'.join(sorted(THIRD_PERSON - PLURAL_NOUNS))})\b"
    r"|, (?:[\w-]+ ){0,2}[\w-]+s (?:get|change|have|are|become|use|need|take|make|give|do|can|will|must)\b"
)
"""A second sentence behind a comma: "handles all requests for a service, a host handles all of a virtual host"."""
_OUTSIDE = re.compile(
    r"^[A-Z], | - |"
    r"\b(?:of|to|for|with|by|on|in|from|at|about|than) (?:it|its|them|their|one)\b|[;:]|^(?:it|its|so)\b"
    r"|\(\d+(?:\.\d+)+(?:-\d+)?\)|\b[Ii]n (?:[Ss]ection )?(?:\d+|[A-Z])(?:\.\d+)+(?:-\d+)?$"
    r"|, (?:but|so|while|whereas|yet) | but (?:the|it|an?|this|not all) |[a-z]—[a-z]"
    r"|\b(?:for|in|on|of|to|with|by|from|at|into) that (?!is\b|are\b)|\bthat (?!used|based|needed)[a-z]+ed "
    r"(?!by|to|in|the|an?|for|with|on|from|as|at)[a-z]+"
    r"|\bthe (?:function|method|command|tool|program)\b(?! of| that| which| is| [a-z]+ed)|, by default\b"
    r"|, where [a-z]+ (?:represents?|is|are|stands?|denotes?|means|specif(?:y|ies))\b"
    r"|,? so (?:that )?(?:it|they) | (?!for )[a-z]+ (?:it|them)$"
    r"|\bnot because\b|\bthe given\b|--\s|\bsuch (?!as\b)|\b(?:cases?|even|only)$|\bme\b"
    r"|, and (?:there|it|its|the|this|an?|one|inside|in|on|many|some|all|each|most|then|thus|therefore)\b"
    r"|,(?: and)? (?!(?:and|or|but|if|when|where|which|who|whose|that|as|unless|until)\b)(?:[\w/-]+ ){1,4}"
    r"(?:is|are|was|were|has|have|had|will|can|must|may|does|do|gets?|becomes?|changes?|happens?)\b"
    r"|,? and [A-Z][\w.-]* (?:is|are|was|has|can|stands|means|uses|does)\b"
    rf"| [—–] |{_NEW_SUBJECT}|{_SIDE_BY_SIDE}"
    r"|,? and (?:there|it|their|its|the|this|many|some|all|each|most) (?:\w+ )?\w+ "
    r"(?:is|are|has|have|can|may|must|will|should|would|could|cannot|[a-z]+s)\b"
    r"|, (?:newer|older|later|earlier|recent|other|some|most|many) [a-z]+s [a-z]+ (?:on|upon|to|the|an?|its|no)\b"
    rf"|, (?:[\w-]+ ){{1,2}}[a-z]+s (?:{'|'.join(sorted(VERBS))}) (?:on|upon|to|the|an?|its|no)\b"
)
"""What speaks of more than the sentence says, or goes on with another subject."""
_FOR_YOU = re.compile(r"(?<=lets|elps) you |(?<=llows|ables) you ")
"""Whom a sentence lets do something: that points nowhere."""
_ENOUGH = 40
_CONTRAST = re.compile(
    r"\b(?:whereas|as opposed to|in contrast)\b|\bwhile (?:the )?[A-Z]\S* (?:is|are|was|has|does|can)\b"
)
_LAST_OF = re.compile(r", (?:and|or) (?:the|an?|one)$")
_RELEASE = re.compile(r".* v?\d+(?:\.\d+)+")
_GOES_ON = re.compile(
    r",? (?:because|since|although|though|whereas)\b|, default(?:s|ing) to\b|, (?:so|but|while|which|as)\b"
    rf"|{_NEW_SUBJECT}"
    r"|, (?:and|or) (?:it|they|its|their|there|this|these|the|you|we|an?|one|can|may|will|must|should|is|are|has)\b"
)
"""Where a sentence goes on with something else than what it says of its subject."""
_PARTS = re.compile(r"^(?:an?|the) (?:[\w-]+ ){1,4}?[\w-]+, ")
_GOES_ON_OF_IT = re.compile(
    r"\band (?:can|may|must|should|will|is|was|has|does|cannot)\b"
    rf"|, and (?:[a-z]+ly |also )?(?:{'|'.join(sorted(THIRD_PERSON - PLURAL_NOUNS))})\b"
    rf"|\band (?:{'|'.join(sorted(THIRD_PERSON - PLURAL_NOUNS))}) (?:the|an?|its|no|all)\b"
)
_ARE_KIND = re.compile(
    r"(?!not |only |also |then |just |always |often |sometimes |never |now |[a-z]+(?:ed|ly|ing) )"
    r"(?!(?:run|set|built|made|given|kept|held|found|read|written|sent|put|shown|known|taken|done) )"
    r"(?:(?!(?:to|with|in|by|for|of|from|on|and|or|only) )[a-z-]+ ){0,3}"
    r"(?:people|(?!as |is |was |has )[a-z]+s) (?:that|which|who|of|for|in|with|whose|to|from|between|made|[a-z]+ed)\b"
)
_TWOFOLD = re.compile(r"\b(?:and|or) (?:aren't|don't|can't|are|have|were|do)\b|\bnor\b|, not\b|, (?:it|they) ")
"""A second statement, which the first one's subject no longer governs in a question."""
_ARE_THINGS = re.compile(r"(?:[\w’'/-]+ ){0,4}[\w-]+[^\Wsu]s(?:,| (?:and|of|for|in|on|at|to|with|from|by)\b|$)")
"""What several things are: things, by their name alone."""
_SAYS_NOTHING = frozenset(
    "objects object items item results result values value names name users packages package relationships addresses "
    "address descriptions locations access operators operator document documents list lists conflict files file match "
    "options option functions function commands command variables variable elements entries types fields parameters "
    "methods modules directory directories keys sizes format output packagers noun state states client server "
    "parameter section sections lines line block blocks code data component components part parts status system "
    "systems feature features tool tools form forms kind kinds things thing pieces mechanism mechanisms "
    "support image repo repository".split()
)
"""Nouns that alone, or behind any other word, name no thing that a reader would know."""
_OF_STATE = re.compile(
    r"(?:may|will|can|must|should|has|have)\b|(?:is|are|was|were) (?!thrown|raised)(?:[a-z]+ly )?"
    r"(?:[a-z]{2,}ed|given|written|built|made|held|known|chosen|set|run|read|kept|sent|found|put|shown|meant|hidden)\b"
)
"""A clause that begins like this does not identify the thing it is about."""
_SAYS_LITTLE = re.compile(
    r"(?:[a-z]+s (?:an? )?(?:specific|particular|certain|special|different|various|several|many|some|number of|further|"
    r"(?:two |three )?(?:interesting|useful|nice|important)) [a-z]+s?\b|includes? [a-z]+ing\b"
    r"|(?:is|are) (?:slightly|somewhat|much|far|a (?:bit|little)) (?:more|less|better)\b)|"
    r"(?:does|(?:shows?|means?|suggests?|implies|imply) that|(?:is|are|was) (?:that|whether)"
    r"|takes? (?:place|effect)|deals?)\b|"
    r"(?:is|are) (?:happy|glad|free|welcome|sure) to\b|"
    r"(?:is|are) (?:either|neither|both|essentially|all|any|even|currently|always|typically)\b"
    r"|(?:has|have) to\b|takes? (?:[\w-]+ ){1,5}as (?:an |its |the )?(?:[a-z]+ )?arguments?$|(?:is|are) written in\b"
    r"|(?:is|are) (?:highly|perfectly|extremely|fully|particularly|especially|ideally|well) [a-z]+ ?(?:to|for|in)?\b"
    r"|(?:is|are|was|were) (?:short|abbreviations?|acronyms?|synonyms?|alias(?:es)?|[a-z][A-Za-z_]* "
    r"(?:parameter|option|argument|attribute|field)s? of)\b|.* if (?:available|any|present|possible|applicable)$"
    r"|(?:is|are|was|were) (?:to\b|at the heart\b|consists?\b|suitable\b|in charge\b|"
    r"[a-z]+, |(?!missing\b)[a-z]{2,}ing\b)|"
    r"(?:is|are|was|has|have|(?:can|may|will|must) be) (?:usually |normally |often |always )?"
    r"(?:(?:an?|the) (?:bit|good|little|lot|different|same|one|way|"
    r"(?:[a-z]+ )?example|great|part of)|not|also|only|still|now|no longer|fine|similar|able|one|ignored|becoming|"
    r"good|different|important|useful|helpful|"
    r"common|popular|great|simple|easy|hard|possible|just|very|quite|more|most|less|available|true|similarly|likely|"
    r"(?:strongly|highly) recommended|"
    r"equivalent|identical|set to|difficult|notoriously|unlikely|insignificant|assumed|recommended|"
    r"used(?! to)|done|called|known|convenient|responsible|described|discussed|covered|because|"
    r"when|where|how|why)\b"
)
_VAGUE = frozenset(
    "way aspect part thing use reason kind sort result approach area case matter point term concept feature".split()
)
_PREPOSITIONS = frozenset("against via upon without among between per toward towards during".split())
_PRAISE = frozenset(
    "important appropriate powerful useful suitable good ideal new great perfect key main simple easy nice popular "
    "valid modern emblematic elegant efficient mature robust excellent handy convenient".split()
)
"""What is only praised, or said to be new, is not told from others."""
_RANKED = frozenset("minor major special separate different".split())
"""Nouns whose instances are not asked for by name."""
_KIND_OF = re.compile(
    r"(?P<article>an?|the) (?P<noun>(?:[\w’'/+.-]+,? ){0,6}?[\w’'+-]+)"
    r"(?: (?P<relative>that|which|who) (?=(?:[a-z]+ly )?(?:is|was|can|has|may|must|will|[a-z]+s) )"
    r"| (?=(?P<participle>(?!need|speed|seed)[a-z]{3,}ed |written |built |made |held |known |given )"
    r"(?:by|in|on|for|to|as|from|at|with|when|during) )"
    r"| (?=(?:of|for|to|in|from|with|on|by|between|at|whose|where|when|as)\b)|(?=,)|$)"
)
"""A predicate noun, and what follows it: "a tool that counts ...", "a film directed by ...", "the name of ..."."""
_CLAUSE_OF_ANOTHER = re.compile(
    rf"(?!(?:{'|'.join(sorted(THIRD_PERSON))})\b)[a-z]+s (?:{'|'.join(sorted(THIRD_PERSON))})\b"
)
"""What a relative clause begins with whose subject is a name that looks like a verb: "(the layer that) beets uses"."""


_TELLING = 4
"""Words of a comment that tell what its command does from what others do: "shows the id" does not."""
_TELLS_ONE = 4
"""Words that tell one of many that are called by the same noun."""
_DO_YOU_CALL = "What do you call "


def statement_question(said: Statement, *, local: bool = False) -> tuple[str, str] | None:
    """(question, its cue) for what a sentence speaks of: "Which tool counts instructions?", "What are values without an
    owner called?"; None where it does not read on its own.

    Args:
        local: the question will name the page, so that its subject may be one that only the page tells ("The pedal").
    """
    definite = said.definite and not local
    if _CONTRAST.search(said.rest) or "â" in said.name:
        return None  # half of a comparison; quotation marks read in another encoding
    rest, verb = " ".join(_own_clause(without_remarks(said.rest), said.verb).split()), said.verb
    addressed = _FOR_YOU.sub(" ", f"{verb} {rest}")
    if is_fragment(addressed, least=12 if said.names else 25, most=190) or leaks(rest, said.name):
        return None
    if not said.names and leaks(f"{verb} {rest}", said.name):
        return None  # "Export exports the selected streams"
    if _ASIDE.search(rest) or _TWOFOLD.search(rest) or _OUTSIDE.search(rest) or any(c in rest for c in "“”"):
        return None
    if said.names and re.match(r"(?:the )?names? of\b", rest, re.IGNORECASE):
        return None  # "The name of the function is called yylex."
    if verb in ("is", "are") and re.match(r"(?:about |up to )?\d", rest):
        return None  # "What is 50 characters?"
    if said.names:
        be, called = verb.split(" ", 1)
        thing = rest[0].lower() + rest[1:] if _opens_inside(rest) else rest
        return f"What {be} {thing} {called}?", thing
    if _SAYS_LITTLE.match(f"{verb} {rest}") or len(content_words(f"{verb} {rest}")) < 4:
        return None
    if said.kind:
        if verb in ("has", "have", "can", "may", "will", "was", "must", "should") and not said.purpose:
            return None
        if re.match(rf"(?:is|are) (?:an?|the) (?:[\w-]+ ){{0,5}}{said.kind}\b", f"{verb} {rest}"):
            return None  # "Which task is a task that ...?"
        if (last := said.name.split()[-1]).islower() and last in KINDS - {said.kind}:
            return None  # "the ftpmail script" is no module
        return f"Which {said.kind} {verb} {rest}?", f"{verb} {rest}"
    *modifiers, head = said.name.split()
    if modifiers and re.search(rf"\b{re.escape(head)}\b", rest):
        return None  # "Which improvements are about improvements?"
    if any(leaks(rest, word) for word in modifiers) or {word.lower() for word in modifiers} & _HOW_MANY:
        return None
    if said.plural and verb == "are" and _ARE_KIND.match(rest):
        return f"What do you call {rest}?", rest
    named = not re.fullmatch(r"[a-z -]+", said.name)
    if not said.plural and verb in ("is", "was") and (kind := _KIND_OF.match(rest)) is not None:
        article, noun, relative, done = kind["article"], kind["noun"], kind["relative"], rest[kind.end() :]
        if {"one", "and", "or", "is"} & set(noun.split()) or noun.split()[-1] in _VAGUE - {"term"}:
            return None
        if definite or _GOES_ON_OF_IT.search(rest):
            return None  # "The prefix is a string that starts with a digit": which prefix, its page says
        if relative and noun.split()[-1] in FUNCTION_WORDS | _PREPOSITIONS:
            return None  # "the means through which parties ..."
        if relative and _CLAUSE_OF_ANOTHER.match(done):
            return None  # "the layer that the program uses": "Which layer Kiln uses?"
        if noun.split()[-1].endswith("ly") or noun.split()[0] in (_RANKED if relative else _PRAISE):
            return None  # "a simple structure originally developed for mail"
        if relative and named:
            return f"Which {noun} {done}?", done
        if relative:  # a word by its meaning
            return f"What do you call {rest}?", rest
        if kind["participle"] and article != "the":
            return f"Which {noun} {verb} {done}?", done
        of = rest[len(article) + 1 :]
        if {"term", "name", "word"} & set(noun.split()):
            return f"What is the {of}?", of
        if article != "the" and len(content_words(of)) < _TELLS_ONE:
            return None  # "a German manufacturer of receivers": there may be others
        return (f"What is the name of the {of}?", of) if named else (f"What do you call {rest}?", rest)
    stative = _OF_STATE.match(f"{verb} {rest}") and not (modifiers and verb == "are")
    if verb in ("is", "was") and rest.startswith(("a ", "an ")) and not said.plural:
        return None  # "What is a special character that usually forcefully ends the process?"
    if verb == "is" and rest.startswith("for "):
        return None  # "What is for printing messages?"
    if head.lower() in _SAYS_NOTHING or definite or stative:
        return None
    if said.plural and verb == "are" and re.match(r"(?:the|an?) ", rest):
        return None  # "Which points are the official term?"
    if said.plural and modifiers:
        return f"Which {head.lower() if head.istitle() else head} {verb} {rest}?", f"{verb} {rest}"
    if said.plural:
        if verb == "are" and _ARE_THINGS.match(rest):
            return None  # "What is pure in-memory mechanisms?"
        if any(word in VERBS for word in _JOINED.findall(rest)) or _ALSO_DO.search(rest) or " their " in f" {rest}":
            return None  # a second verb would have to agree as well
        verb = {"are": "is", "have": "has"}.get(verb) or third_person(verb)
        return f"{'Who' if said.name in _PEOPLE else 'What'} {verb} {rest}?", rest
    if _RELEASE.fullmatch(said.name):
        return f"Which release {verb} {rest}?", f"{verb} {rest}"
    people = (head if modifiers else head.lower()) in _PEOPLE or (
        not is_identifier(said.name) and _OF_PEOPLE.match(f"{verb} {rest}")
    )
    asks = "Who" if people else "What"
    return f"{asks} {verb} {rest}?", f"{verb} {rest}"


def answered(quote: str, value: str, commands: Collection[str]) -> AskedSentence | None:
    """What a sentence, or a command with its comment, answers with ``value``; None where the words do not read.

    Args:
        commands: as of :func:`synth.text.shell_lines.code_commands`, of all pages.
    """
    noted = commented(quote, commands)
    if noted is None:
        found = asked_of(quote, value, commands)
        broken = (
            found is None or found.question.count('"') % 2 or found.question.count("(") != found.question.count(")")
        )
        return None if broken or found is None or leaks(found.cue, found.answer) else found
    first, _, rest = noted[1].partition(" ")
    does = first.lower() in THIRD_PERSON and re.match(r"(?:the|an?|all|every|each|its|what|which|how|no)\b", rest)
    if leans(noted[1]) or not (first.lower() in VERBS or does) or len(content_words(noted[1])) < _TELLING:
        return None  # "runs against checklists"
    said = clause(f"{capital(noted[1])}.", noted[0], "command") if noted[0] == value else None
    if (
        said is None
        or not said.startswith("that ")
        or said.startswith("that is ")
        or is_fragment(said, least=20, most=110)
    ):
        return None
    cue = said.removeprefix("that ")
    return AskedSentence(f"Which command {cue}?", cue, value, local=False)


def on_page(question: str, page: str) -> str:
    """A question of what one page alone tells: "What do you call ...?" -> "What does “Config” call ...?"."""
    if question.startswith(_DO_YOU_CALL):
        return f"What does {page} call {question.removeprefix(_DO_YOU_CALL)}"
    return f"According to {page}, {question[0].lower()}{question[1:]}"


def _own_clause(rest: str, verb: str = "") -> str:
    """What is said up to where the sentence goes on with a reason or another subject, if that is enough."""
    found = next((match for match in _GOES_ON.finditer(rest) if match.start() >= _ENOUGH), None)
    relative = found is not None and verb in ("is", "are") and found.group() == ", which"
    if found is not None and relative and _PARTS.search(rest[: found.start()]):
        return rest  # "a library, written in C and compiled, which the program loads": what defines it comes last
    if found is None or (_LAST_OF.match(found.group()) and ", " in rest[: found.start()]):
        return rest  # the last item of a list is part of it
    return rest[: found.start()]


def _opens_inside(subject: str) -> bool:
    """Whether the first word of a sentence has a capital for no other reason."""
    return re.match(r"(?:The|An?|All|Each|Every|Any|[A-Z][a-z]+s|[A-Z][a-z]+ [a-z]+s)\b", subject) is not None
