"""How questions speak of books, films and artworks."""

from __future__ import annotations

from synth.tasks.world.wording import Wording, entity, value

__all__ = ["WORDINGS"]

WORDINGS: tuple[Wording, ...] = (
    entity(
        "author",
        subject_does="was written | by; has | _ as its author",
        object_does="wrote~write |; is the author | of",
        object_is="the author of {x}; {x's} author; the writer of {x}",
        subject_is="the book written by {x}; the book by {x}",
    ),
    entity(
        "publisher",
        subject_does="was published | by; was issued | by",
        object_does="published~publish |; was the publisher | of; brought~bring out |; issued~issue |",
        object_is="the publisher of {x}; {x's} publisher; the publishing house of {x}",
        subject_is="the book published by {x}",
    ),
    entity(
        "written_in",
        subject_does="was written | in; has | _ as its original language; was originally written | in",
        object_does="is the original language | of; is the language | of",
        object_is="the original language of {x}; {x's} original language",
    ),
    entity(
        "dedicated_to",
        subject_does="is dedicated | to; bears~bear a dedication | to",
        object_does="is the dedicatee | of; is named in the dedication | of",
        object_is="the dedicatee of {x}; {x's} dedicatee",
        subject_is="the book dedicated to {x}",
        past=False,
    ),
    entity(
        "set_in",
        subject_does="is set | in; takes~take place | in",
        object_does="is the setting | of; provides~provide the setting | for; serves~serve as the setting | for",
        object_is="the setting of {x}; {x's} setting",
        past=False,
    ),
    entity(
        "director",
        subject_does="was directed | by; has | _ as its director",
        object_does="directed~direct |; was the director | of",
        object_is="the director of {x}; {x's} director",
        subject_is="the film directed by {x}",
    ),
    entity(
        "adapted_from",
        subject_does="was adapted | from; is an adaptation | of; is based | on",
        object_does="was adapted for the screen | as; was filmed | as; was the basis | of; "
        "provided~provide the story | for",
        object_is="the book behind {x}; the book on which {x} is based; the literary source of {x}",
        subject_is="the film version of {x}; the film adaptation of {x}; the film based on {x}",
    ),
    entity(
        "starring",
        subject_does="stars~star |; has | _ in its cast; features~feature |",
        object_does="starred~star | in; appeared~appear | in; had~have a leading part | in; acted~act | in",
        object_is="the star of {x}; {x's} star",
        subject_is="the film starring {x}; the film that features {x}",
    ),
    entity(
        "produced_by",
        subject_does="was produced | by; has | _ as its production company",
        object_does="produced~produce |; was the production company | of",
        object_is="the production company of {x}; {x's} production company; the producer of {x}",
        subject_is="the film produced by {x}",
    ),
    entity(
        "composer",
        subject_does="has a score | by; has music | by; was scored | by",
        object_does="composed~compose the music | for; wrote~write the score | of; composed~compose the score | of; "
        "was the composer of the music | for",
        object_is="the composer of the music for {x}; the composer of the score of {x}",
        subject_is="the film scored by {x}; the film with music by {x}",
    ),
    entity(
        "creator",
        subject_does="was created | by; is the work | of; was made | by",
        object_does="created~create |; made~make |; was the creator | of; is the artist | behind",
        object_is="the creator of {x}; {x's} creator; the artist behind {x}",
        subject_is="the artwork created by {x}; the artwork by {x}",
    ),
    entity(
        "displayed_in",
        subject_does="is displayed | in; is on display | in; is held in the collection | of",
        object_does="displays~display |; has | _ on display; has | _ in its collection",
        object_is="the museum that displays {x}",
        subject_is="the artwork displayed in {x}; the artwork on display in {x}",
        past=False,
    ),
    entity(
        "depicts",
        subject_does="depicts~depict |; is a portrait | of; portrays~portray |; shows~show the likeness | of",
        object_does="is depicted | in; sat~sit | for; is portrayed | in",
        object_is="the subject of {x}; the person portrayed in {x}; the person depicted in {x}",
        subject_is="the portrait of {x}; {x's} portrait; the artwork that depicts {x}",
    ),
    value(
        "publication_year",
        subject_does="was published | in; appeared~appear | in; came~come out | in",
        object_is="the year of publication of {x}; {x's} year of publication; the year in which {x} was published; "
        "the publication year of {x}",
        asks="In what year was {x} published?; When was {x} published?; In which year did {x} appear?",
    ),
    value(
        "page_count",
        subject_does="has | _ pages; fills~fill | _ pages; runs~run | to _ pages",
        object_is="the number of pages of {x}; {x's} page count; the page count of {x}; the number of pages in {x}",
        asks="How many pages does {x} have?; How many pages long is {x}?; How many pages does {x} fill?; "
        "How many pages are there in {x}?",
    ),
    value(
        "genre",
        subject_does="is | a(n)",
        object_is="the genre of {x}; {x's} genre",
        asks="What genre does {x} belong to?; To what genre does {x} belong?; What kind of work is {x}?",
    ),
    value(
        "release_year",
        subject_does="was released | in; came~come to cinemas | in; came~come out | in",
        object_is="the year of release of {x}; {x's} year of release; the release year of {x}; "
        "the year in which {x} was released",
        asks="In what year was {x} released?; When was {x} released?; In which year did {x} come to cinemas?",
    ),
    value(
        "running_time",
        subject_does="has a running time | of; runs~run | for; lasts~last |",
        object_is="the running time of {x}; {x's} running time; the length in minutes of {x}",
        asks="How long does {x} run?; How many minutes does {x} last?; How many minutes long is {x}?; "
        "What is the running time of {x}?",
    ),
    value(
        "completion_year",
        subject_does="was completed | in; was finished | in; dates~date | from",
        object_is="the year of completion of {x}; {x's} year of completion; the year in which {x} was completed",
        asks="In what year was {x} completed?; When was {x} completed?; In which year was {x} finished?",
    ),
    value(
        "medium",
        subject_does="is | a(n); was executed | as a(n)",
        object_is="the technique of {x}; {x's} technique; the medium of {x}",
        asks="What kind of artwork is {x}?; In what technique was {x} executed?; What medium was used for {x}?",
    ),
)
