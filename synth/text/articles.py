"""Articles that telegram style leaves out: "deletes all entries in table" is "deletes all entries in the table".

Only what follows a verb or a preposition is looked at, and only where the last noun of it is known: a noun that can be
counted takes an article in the singular, a name, a plural and a mass take none. Of other nouns nobody can say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from synth.text.inflection import article
from synth.text.verbs import THIRD_PERSON, VERBS
from synth.text.words import FUNCTION_WORDS

__all__ = ["COUNTED", "counted_nouns", "with_articles"]

COUNTED = frozenset(
    """
    account action adapter address agent alarm algorithm alias amount application archive area argument array
    article attachment attempt attribute author backend backup bar batch baseline bit block body book bookmark
    boolean border boundary box branch breakpoint browser bucket buffer bug build builder bundle button byte cache
    calendar call callback canvas case catalog category cell certificate chain change channel character chart check
    checkbox checker checkpoint checksum child chunk class clause client clock cluster code-block collection
    collector color colour column combination command comment commit compiler component condition configuration
    connection connector console constant constructor container context controller cookie coordinate copy core
    counter country cursor curve cycle daemon dashboard database dataset date day deadline decoder default delay
    delimiter dependency descriptor device dialog dictionary diff difference digest digit dimension directive
    directory disk distribution document domain driver edge edition editor element email encoder end endpoint engine
    entry environment error event example exception executable expression extension factor factory feature field
    figure file filename filesystem filter flag folder font footer form format formatter fraction fragment frame
    framework frontend function gateway graph grid group guest guide handle handler hash header heading height hint
    history hook host hostname hour icon identifier image index inode instance instruction integer interface
    interval item iteration iterator job journal kernel key keyboard keyring keyword label language layer layout
    leader level library license limit line link linter list listener literal locale location lock log logger login
    loop machine macro mailbox manager manifest map mapping mark marker mask match matrix menu message metaclass
    method metric migration minute mirror mode model modifier module monitor month mount mutex name namespace
    network node note notification number object offset operand operation operator option order origin overview
    owner pack package packet page pair panel paragraph parameter parent parser part partition passphrase password
    patch path pattern payload peer percentage period person phase picture pipe pipeline pixel placeholder player
    playlist plugin pointer policy pool port position prefix preset primitive printer priority procedure process
    processor profile profiler program project prompt property protocol proxy query question queue range rate ratio
    reader reason receiver record recipe region registry regex release remote replacement replica report repository
    request resolution resource response result return-value revision role root route router row rule runner sample
    scale schedule scheduler schema scheme scope screen script second section seed segment selector sender sentence
    sequence serializer server service session set setting shape shard shell shortcut signal signature site size
    slot snapshot socket stack stage statement station step stream string style stylesheet subcommand subdirectory
    subnet subset substring subtree suffix suite summary switch symbol system tab table tag target task template
    term terminal test text-file theme thread threshold tile timeout timer timestamp title token tool toolbar topic
    trace track transaction transition translation tree trigger tuple tunnel type unit update upstream url user
    username utility validator value variable variant vector vendor version video view viewer virtual-machine volume
    warning watchdog week wheel widget width wildcard window word worker workflow workspace wrapper writer year zone
    postbox server-side avatar checkout subprocess superclass basename codec credential hypervisor initializer
    interpreter limiter nameserver netmask passcode pathname pid playbook quota resolver tarball timezone tooltip
    toolchain webhook website workload
    """.split()
)
MASS = frozenset(
    """
    access abuse activation advice auth config decimal creation deletion insertion registration uppercase lowercase
    syslog comma air aggregation analysis animation art authentication authorization auto availability backoff
    background bandwidth behavior behaviour boilerplate buffering caching capacity case-sensitivity cleanup code
    color-space compatibility compilation completion compression concurrency confidence congestion connectivity
    consistency content context-switching control coverage credit data debugging decoding decompression
    deduplication default demand depth detail detection direction disk documentation downtime duration edit editing
    efficiency email encoding encryption energy equality error-handling evidence execution exit exhaustion expansion
    failure feedback formatting forwarding framing functionality garbage generation guidance hardware hashing help
    highlighting history html idle indentation inference info information inheritance initialization inlining input
    instrumentation integrity interaction inspection interpolation isolation json kernelspace keepalive latency
    layout length linting load loading locking logging login logout maintenance mail management matching memory
    metadata mixed-case monitoring multicast music navigation negotiation networking noise normalization notation
    null optimization order output overhead ownership padding paging parallelism parsing performance permission
    persistence place playback polling power precedence precision privacy process-isolation production profiling
    progress prose protection punctuation quality randomness readability recursion redundancy relevance rendering
    replication research resolution root routing safety sampling scaling scope scratch script-injection security
    self semantics serialization shutdown silence size software sort sorting sound source space speed stability
    standby startup state static status stdin stdout stderr storage streaming success support syntax tabbing
    teardown telemetry text throughput time timing traffic training transparency transport truncation typing unicode
    unity usage utilization validation verbosity verification version-control video visibility vision web weight
    whitespace width work xml yaml
    """.split()
)
"""Nouns that stand without an article as well: what can be counted and also measured is among them."""
_MASS_ENDINGS = re.compile(r"[a-z]+(?:ness|ware|ship|ism|[a-z]{3}ing|tion|sion|ment|ance|ence|ity|cy)")
_PREPOSITIONS = frozenset(
    "of in on at by for from to with within into onto over under through about across along after before without via "
    "as between during against upon inside outside around behind beyond than like".split()
)
_STOPS = _PREPOSITIONS | frozenset(
    "and or but nor not if when whenever where whether while that which who whose because unless until since so is "
    "are was were be been has have had can may must will should would could do does did then only also instead per "
    "rather just up down out off again too ever already currently newly automatically".split()
)
_DETERMINERS = frozenset(
    "the a an its their his her your our my this that these those any all each every no some both either neither one "
    "two three four five several many most more less few another such what which whose whether how it them they you "
    "itself themselves everything nothing something anything oneself yourself zero none null true false other others "
    "much enough half exactly approximately".split()
)
_THE = frozenset(
    "given specified default current previous next first last maximum minimum total same following entire whole "
    "original resulting corresponding selected remaining latest final main initial actual top bottom left right named "
    "requested desired preferred underlying".split()
)
"""Words in front of a noun that make it one of which there is no other."""
_THE_MANY = frozenset("given specified following remaining selected requested".split())
_A = frozenset(
    "specific certain particular single custom separate new different temporary random additional simple".split()
)
_OF_WHICH_ONE = frozenset(
    "end start beginning name value number size rest list location path length width height order contents output top "
    "bottom maximum minimum amount position default color colour timeout terminal command-line screen network system "
    "database filesystem server".split()
)
_MAKES = frozenset(
    "creates adds defines opens starts makes builds generates launches inserts uses runs executes takes accepts "
    "requires sends has contains permits allows expects produces constructs spawns registers appends schedules "
    "reserves writes gets limits".split()
)
_CONJUNCTIONS = frozenset("whether if when unless".split())
_VERBS_TOO = frozenset("backup login logout checkout setup shutdown power repair proxy route tunnel".split())
_IRREGULAR = frozenset("bound built made found given written held known kept sent shown taken".split())
_PARTICIPLES = frozenset(
    "using containing specifying including showing holding listing giving defining representing adding setting "
    "employing matching excluding reading writing".split()
)
_FINITE = frozenset("is was has can may must will should does".split())
_MEASURED = frozenset("format mode style syntax notation order priority level".split())
"""What something is in, without an article where a word says which: "in raw format", "at high priority"."""
_LONGEST = 6
_LONG_ACRONYM = 4
_OF_A = frozenset("as with without using for".split())
_OF_STUFF = frozenset("of from with without for by".split())
_PHRASES = (
    "default place night demand runtime startup start random disk memory parallel order addition hand use once "
    "conjunction day exit error boot shutdown scratch failure success root is well example general particular "
    "fact time turn detail full advance line name size date type email mail row sync case sequence connect "
    "disconnect login logout completion reload restart reference value key index path id version text code title "
    "user host batch"
)
_BARE = re.compile(
    rf"(?:by|on|at|in|to|from|as|for|of|via|with|without) (?:{_PHRASES.replace(' ', '|')}|part of|"
    r"(?:compile|build|run|load|link|boot) time|(?:[A-Z]\S* )+(?:format|mode|style|notation|syntax))"
    r"(?=[,;]| (?!of\b)|$)|as part of\b"
)
"""Phrases that take no article: "by default", "in JSON format"."""
_ACRONYMS = frozenset("URL URI ID UID GID PID UUID API IP CPU GPU OS".split())
_A_NOUN = re.compile(
    r"\b(?:[Aa]n?|[Ee]ach|[Ee]very|[Aa]nother) (?:[a-z-]+ ){0,2}?([a-z]{3,})"
    r"(?= (?:of|to|for|that|which|is|in|with|from|on|at|by|as|and|or|will|can|must|has|was|may)\b|[.,;:)])"
)
_BARE_NOUN = re.compile(
    r"\b(?:to|by|of|from|with|for|than|via|on) ([a-z][a-z\d-]{2,})"
    r"(?= (?:is|to|from|with|and|or|which|will|can|has|itself)\b|[.,;:)])"
)
_OFTEN = 2


def counted_nouns(texts: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Nouns that the texts count ("a chunker", "each postbox"), each seen so several times, and words that stand
    without an article as often: programs, and what can't be counted."""
    found, bare = Counter[str](), Counter[str]()
    for text in texts:
        found.update(_A_NOUN.findall(text))
        bare.update(_BARE_NOUN.findall(text))
    counted = frozenset(noun for noun, seen in found.items() if seen >= _OFTEN and bare[noun] < seen)
    return counted - MASS, frozenset(noun for noun, seen in bare.items() if seen >= max(_OFTEN, found[noun]))


def with_articles(text: str, counted: Callable[[str], bool], named: Callable[[str], bool]) -> str | None:
    """A clause with the articles that it lacks; None where one may be missing and its noun is unknown.

    Args:
        text: "that sets default timeout".
        counted: whether a noun is one that the documents count.
        named: whether something goes by a word.
    """
    words = text.split(" ")
    telegram = not {"the", "a", "an"} & {word.lower() for word in words}
    out: list[str] = []
    number = 0
    while number < len(words):
        word = words[number]
        out.append(word)
        number += 1
        if (
            number == len(words)
            or not _governs(words, number - 1)
            or _BARE.match(" ".join(words[number - 1 : number + 5]))
        ):
            continue
        run = _run(words, number)
        if not run:
            continue
        found = _article(word.lower(), run, words[number + len(run) :], counted, named)
        if found is None and telegram:
            return None  # who writes articles elsewhere left none out
        if found:
            out.append(found)
        out += run
        number += len(run)
    return " ".join(out)


def _governs(words: list[str], at: int) -> bool:
    """Whether a noun with its words may follow: behind a preposition, a verb, or the participle of one."""
    word, before = words[at].lower(), words[at - 1].lower() if at else ""
    if word in _PREPOSITIONS or word in _CONJUNCTIONS:
        follows = words[at + 1].lower().rstrip(",;") if at + 1 < len(words) else ""
        return not (word == "to" and (follows in VERBS or follows in _VERBS_TOO))
    if word in THIRD_PERSON:
        return before in ("that", "and", "or", "which", "then") or before.endswith((",", "ly"))
    if word in VERBS:
        return before in ("to", "not", "and", "or") and at > 1
    return word in _PARTICIPLES and bool(at)


def _run(words: list[str], start: int) -> list[str]:
    """The noun that begins at a word, with all that stands in front of it; empty where it is no plain noun."""
    run: list[str] = []
    for number in range(start, len(words)):
        word = words[number]
        bare = word.rstrip(",;")
        low = bare.lower()
        formed = re.fullmatch(r"[a-z]+(?:ed|ing)", bare) is not None or bare in _IRREGULAR
        participle = bool(run) and formed and _ends(words, number)
        if low in _STOPS or low in _DETERMINERS or participle:
            break
        if run and low.endswith("ly"):
            break
        if len(run) == _LONGEST or not re.fullmatch(r"[A-Za-z][\w’'/+.-]*|\d+-[a-z]+", bare):
            return []
        run.append(word)
        if bare != word:
            break
    if not run or run[0].lower().endswith("ly") or any("'s" in word or "’s" in word for word in run):
        return []
    return run


def _ends(words: list[str], number: int) -> bool:
    """Whether a participle stands behind its noun: what follows it is no noun of the same run."""
    after = words[number + 1].lower().rstrip(",;") if number + 1 < len(words) else ""
    return not after or after in _STOPS or after in _DETERMINERS or words[number].endswith(",")


def _article(
    governor: str, run: list[str], after: list[str], counted: Callable[[str], bool], named: Callable[[str], bool]
) -> str | None:
    """The article that a noun takes; empty for none, None where nobody can say."""
    first, last = run[0], run[-1].rstrip(",;")
    low = first.lower()
    if governor in _CONJUNCTIONS and not (after and (after[0] in _FINITE or after[0] in THIRD_PERSON)):
        return ""  # "if set", "when possible"
    if last.endswith("s") and not last.endswith(("ss", "us", "is", "as")):
        return "the" if low in _THE_MANY else ""
    if last in _ACRONYMS and all(word.islower() or word.isupper() for word in run):
        return "the"
    if not last.isalpha() or not last.islower():
        return ""  # a name
    if low in _THE and len(run) > 1:
        return "the"
    formed = re.fullmatch("[a-z]+ed", last) is not None or last in _IRREGULAR or last == "set"
    if len(run) == 1 and (formed or governor in ("as", "if", "when")) and last not in COUNTED - {"set", "default"}:
        return ""  # "as preferred", "as specified in"
    of = bool(after) and after[0] in ("of", "from") and not run[-1].endswith(",")
    if (last in MASS and not (of and last in COUNTED | {"time"})) or (
        last in _MEASURED and governor in ("in", "at", "with")
    ):
        return ""
    if governor == "to" and any(word[:1].isupper() for word in run):
        return ""  # "a Markdown to HTML converter"
    acts = after and after[0].lower() in _DETERMINERS | {"up", "out", "off"}
    if last not in COUNTED or (last.endswith("ing") and acts):
        if last.endswith("ing"):
            return ""  # "port locking", "setting up"
        if named(last) or (len(run) == 1 and after and after[0].lower() in _DETERMINERS and run[-1].isalpha()):
            return ""  # a program, or a verb: "to repair any"
        if not counted(last):
            if len(run) == 1 and governor in _OF_STUFF:
                return ""  # "a glaze of ash"
            return "" if _MASS_ENDINGS.fullmatch(last) or last in FUNCTION_WORDS or last in VERBS else None
    if low in _A or (not of and last not in _OF_WHICH_ONE and (governor in _MAKES or governor in _OF_A)):
        return "the" if first.isupper() and len(first) > _LONG_ACRONYM else article(" ".join(run))
    return "the"
