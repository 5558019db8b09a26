"""How questions speak of persons' relations."""

from __future__ import annotations

from synth.tasks.world.wording import Wording, entity, symmetric, value

__all__ = ["WORDINGS"]

WORDINGS: tuple[Wording, ...] = (
    entity(
        "born_in",
        subject_does="was born | in; was a native | of; was born | in; hailed~hail | from",
        object_does="is the birthplace | of; is where | _ was born; is the native city | of",
        object_is="the birthplace of {x}; {x's} birthplace; the native city of {x}; {x's} native city",
    ),
    entity(
        "died_in",
        subject_does="died~die | in; passed~pass away | in; died~die | in",
        object_does="is where | _ died; is the place where | _ died; is where | _ passed away",
        object_is="the place of death of {x}; {x's} place of death",
    ),
    entity(
        "citizen_of",
        subject_does="was a citizen | of; held~hold the citizenship | of; was a national | of",
        object_does="was the home country | of; counts~count | _ among its citizens; is the homeland | of",
        object_is="the country of citizenship of {x}; {x's} country of citizenship",
    ),
    entity(
        "studied_at",
        subject_does="studied~study | at; was educated | at; took~take a degree | at; graduated~graduate | from",
        object_does="is where | _ studied; educated~educate |; "
        "counts~count | _ among its graduates; has | _ among its alumni",
        object_is="the alma mater of {x}; {x's} alma mater",
    ),
    entity(
        "taught_at",
        subject_does="taught~teach | at; lectured~lecture | at; held~hold a chair | at; was a professor | at",
        object_does="had~have | _ as a professor; counts~count | _ among its former professors; is where | _ taught",
    ),
    entity(
        "worked_at",
        subject_does="did~do research | at; worked~work | at; carried~carry out research | at; was a researcher | at",
        object_does="had~have | _ on its research staff; counts~count | _ among its former researchers; "
        "is where | _ did research",
    ),
    entity(
        "employed_by",
        subject_does="was employed | by; worked~work | for; was an employee | of",
        object_does="employed~employ |; was the employer | of; had~have | _ on its staff",
        object_is="the employer of {x}; {x's} employer",
    ),
    entity(
        "wrote_for",
        subject_does="wrote~write | for; reported~report | for; was a journalist | at; "
        "contributed~contribute articles | to",
        object_does="published~publish articles | by; had~have | _ as a contributor; "
        "counts~count | _ among its contributors",
    ),
    symmetric(
        "spouse",
        does="was married | to; married~marry |; was the spouse | of",
        names="the spouse of {x}; {x's} spouse; the person married to {x}",
    ),
    entity(
        "mentor",
        subject_does="was a pupil | of; was mentored | by; learned~learn the trade | from; was trained | by",
        object_does="was the mentor | of; mentored~mentor |; trained~train |; taught~teach the trade | to",
        object_is="the mentor of {x}; {x's} mentor",
        subject_is="the pupil of {x}; {x's} pupil",
    ),
    entity(
        "child_of",
        subject_does="was a child | of; was born | to; was raised | by",
        object_does="was a parent | of; raised~raise |; brought~bring up |",
        object_is="the parent of {x}; {x's} parent",
        subject_is="the child of {x}; {x's} child",
    ),
    entity(
        "predecessor",
        subject_does="succeeded~succeed | _ as mayor; took~take over the office of mayor | from; "
        "followed~follow | _ as mayor",
        object_does="was succeeded as mayor | by; handed~hand the office of mayor over | to; "
        "preceded~precede | _ as mayor",
        object_is="the predecessor of {x} as mayor; {x's} predecessor as mayor",
        subject_is="the successor of {x} as mayor; {x's} successor as mayor",
    ),
    entity(
        "won",
        subject_does="won~win |; was awarded |; received~receive |; was honoured | with",
        object_does="was won | by; was given | to; went~go | to; was conferred | on",
        object_is="the award won by {x}; the award given to {x}",
        subject_is="the winner of {x}; the recipient of {x}",
    ),
    entity(
        "played_for",
        subject_does="played~play | for; wore~wear the colours | of; was a player | for",
        object_does="fielded~field |; had~have | _ as a player; counts~count | _ among its former players",
        object_is="the former team of {x}; {x's} former team",
    ),
    value(
        "birth_date",
        subject_does="was born | on",
        object_is="the date of birth of {x}; {x's} date of birth; the exact date of birth of {x}",
        asks="When was {x} born?; On what date was {x} born?; On which day was {x} born?",
    ),
    value(
        "death_date",
        subject_does="died~die | on; passed~pass away | on",
        object_is="the date of death of {x}; {x's} date of death; the exact date of death of {x}",
        asks="When did {x} die?; On what date did {x} die?; On which day did {x} pass away?",
    ),
    value(
        "occupation",
        subject_does="worked~work | as a(n); was | a(n); made~make a living | as a(n)",
        object_is="the profession of {x}; {x's} profession; the occupation of {x}; {x's} occupation",
        asks="What did {x} do for a living?; What profession did {x} follow?; What was the occupation of {x}?; "
        "What was {x} by profession?",
    ),
)
