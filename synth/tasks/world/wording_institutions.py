"""How questions speak of institutions, structures, teams, festivals and awards."""

from __future__ import annotations

from synth.tasks.world.wording import Wording, entity, value

__all__ = ["WORDINGS"]

WORDINGS: tuple[Wording, ...] = (
    entity(
        "founded_by",
        subject_does="was founded | by; was established | by; was started | by",
        object_does="founded~found |; was the founder | of; established~establish |",
        object_is="the founder of {x}; {x's} founder",
    ),
    entity(
        "located_in",
        subject_does="is located | in; stands~stand | in; is situated | in",
        object_does="is the site | of; is home | to; is the location | of",
        object_is="the home city of {x}; {x's} home city; the city that is home to {x}",
        past=False,
    ),
    entity(
        "headquartered_in",
        subject_does="has its headquarters | in; is headquartered | in; has its head office | in",
        object_does="houses~house the head office | of; is the headquarters | of; is home to the head office | of",
        object_is="the city where {x} has its headquarters; the city that houses the head office of {x}",
        past=False,
    ),
    entity(
        "sponsored_by",
        subject_does="is sponsored | by; has | _ as its main sponsor; is backed | by _ as main sponsor",
        object_does="sponsors~sponsor |; is the main sponsor | of; backs~back | _ as main sponsor",
        object_is="the main sponsor of {x}; {x's} main sponsor; the sponsor of {x}",
        past=False,
    ),
    entity(
        "rector",
        subject_does="is headed | by _ as rector; has | _ as its rector; is led | by _ as rector",
        object_does="is the rector | of; leads~lead | _ as rector; holds~hold the office of rector | of",
        object_is="the rector of {x}; {x's} rector",
        subject_is="the university led by {x} as rector; the university whose rector is {x}",
        past=False,
    ),
    entity(
        "affiliated_with",
        subject_does="is affiliated | with; belongs~belong | to",
        object_does="is the parent institution | of; oversees~oversee |; counts~count | _ among its affiliates",
        object_is="the parent institution of {x}; {x's} parent institution; the university behind {x}",
        subject_is="the laboratory affiliated with {x}",
        past=False,
    ),
    entity(
        "curator",
        subject_does="has | _ as its chief curator; is directed | by _ as chief curator",
        object_does="is the chief curator | of; directs~direct | _ as chief curator; "
        "is responsible for the collections | of; holds~hold the post of chief curator | at",
        object_is="the chief curator of {x}; {x's} chief curator",
        subject_is="the museum whose chief curator is {x}",
        past=False,
    ),
    entity(
        "editor",
        subject_does="is edited | by; has | _ as its editor",
        object_does="is the editor | of; edits~edit |; holds~hold the post of editor | at",
        object_is="the editor of {x}; {x's} editor",
        subject_is="the newspaper edited by {x}; the newspaper whose editor is {x}",
        past=False,
    ),
    entity(
        "owned_by",
        subject_does="is owned | by; belongs~belong | to",
        object_does="owns~own |; is the owner | of",
        object_is="the owner of {x}; {x's} owner",
        subject_is="the newspaper owned by {x}",
        past=False,
    ),
    entity(
        "parent_company",
        subject_does="is a subsidiary | of; is controlled | by; has | _ as its parent company",
        object_does="is the parent company | of; controls~control |; has | _ among its subsidiaries",
        object_is="the parent company of {x}; {x's} parent company",
        subject_is="the subsidiary of {x}; {x's} subsidiary",
        past=False,
    ),
    entity(
        "held_in",
        subject_does="is held | in; takes~take place every year | in; has | _ as its host city",
        object_does="hosts~host |; plays~play host | to; is the host city | of",
        object_is="the host city of {x}; {x's} host city",
        subject_is="the festival held in {x}; the festival hosted by {x}",
        past=False,
    ),
    entity(
        "home_city",
        subject_does="is based | in; represents~represent |; has | _ as its home city; comes~come | from",
        object_does="is the home city | of; is the base | of; is represented | by",
        object_is="the home city of {x}; {x's} home city",
        subject_is="the team based in {x}; the team from {x}",
        past=False,
    ),
    entity(
        "home_ground",
        subject_does="plays~play its home matches | at; has its home ground | at; has | _ as its home ground",
        object_does="is the home ground | of; hosts~host the home matches | of; has | _ as its resident team",
        object_is="the home ground of {x}; {x's} home ground; the home stadium of {x}",
        subject_is="the resident team of {x}; the team that plays its home matches at {x}",
        past=False,
    ),
    entity(
        "coach",
        subject_does="is coached | by; has | _ as its head coach; plays~play under the coach |",
        object_does="is the head coach | of; coaches~coach |; serves~serve as head coach | of",
        object_is="the head coach of {x}; {x's} head coach; the coach of {x}",
        subject_is="the team coached by {x}; the team whose head coach is {x}",
        past=False,
    ),
    entity(
        "crosses",
        subject_does="crosses~cross |; spans~span |",
        object_does="is crossed | by; is spanned | by; flows~flow | under; passes~pass | beneath",
        object_is="the river under {x}; the river beneath {x}; the river crossed by {x}",
        subject_is="the bridge over {x}; the bridge across {x}",
        past=False,
    ),
    entity(
        "designed_by",
        subject_does="was designed | by; was planned | by; has | _ as its architect",
        object_does="designed~design |; was the architect | of; drew~draw the plans | for; "
        "was responsible for the design | of",
        object_is="the architect of {x}; {x's} architect; the designer of {x}",
    ),
    entity(
        "built_by",
        subject_does="was built | by; was constructed | by; was erected | by; had~have | _ as its contractor",
        object_does="built~build |; constructed~construct |; was the contractor | for; "
        "carried~carry out the construction | of",
        object_is="the contractor for {x}; the builder of {x}; {x's} builder",
    ),
    entity(
        "presented_by",
        subject_does="is presented | by; is awarded | by; is conferred | by",
        object_does="presents~present |; awards~award |; confers~confer |",
        object_is="the university behind {x}; the university responsible for {x}",
        subject_is="the award presented by {x}; the award conferred by {x}",
        past=False,
    ),
    entity(
        "named_after",
        subject_does="is named | after; bears~bear the name | of; takes~take its name | from",
        object_does="is the namesake | of; gave~give a name | to",
        object_is="the namesake of {x}; {x's} namesake",
        past=False,
    ),
    value(
        "founding_year",
        subject_does="was founded | in; has existed | since; dates~date | from",
        object_is="the founding year of {x}; {x's} founding year; the year in which {x} was founded",
        asks="In what year was {x} founded?; When was {x} founded?; In which year was {x} founded?",
    ),
    value(
        "opening_year",
        subject_does="was opened | in; has been in use | since; opened~open | in",
        object_is="the opening year of {x}; {x's} opening year; the year in which {x} was opened",
        asks="In what year was {x} opened?; When was {x} opened?; When did {x} open?",
    ),
    value(
        "first_awarded",
        subject_does="was first awarded | in; has been awarded | since; was awarded for the first time | in",
        object_is="the year in which {x} was first awarded; the inaugural year of {x}; {x's} inaugural year",
        asks="In what year was {x} first awarded?; When was {x} first awarded?; In which year was {x} first awarded?",
    ),
    value(
        "student_count",
        subject_does="has | _ students; enrols~enrol | _ students",
        object_is="the number of students at {x}; the student enrolment of {x}; {x's} student enrolment; "
        "the size of the student body of {x}",
        asks="How many students does {x} have?; How many students are enrolled at {x}?; How many students attend {x}?; "
        "How many people study at {x}?",
    ),
    value(
        "employee_count",
        subject_does="has a workforce | of; employs~employ | _ people; has | _ employees",
        object_is="the number of employees of {x}; {x's} number of employees; the size of the workforce of {x}; "
        "the workforce of {x}",
        asks="How many people does {x} employ?; How many employees does {x} have?; How large is the workforce of {x}?; "
        "How many people work for {x}?",
    ),
    value(
        "circulation",
        subject_does="has a daily circulation | of; sells~sell | _ copies a day",
        object_is="the daily circulation of {x}; {x's} daily circulation",
        asks="How many copies a day does {x} sell?; What daily circulation does {x} have?; "
        "How large is the daily circulation of {x}?",
    ),
    value(
        "capacity",
        subject_does="has a capacity | of; holds~hold | _ spectators; seats~seat | _ spectators",
        object_is="the capacity of {x}; {x's} capacity; the spectator capacity of {x}; the seating capacity of {x}",
        asks="How many spectators does {x} hold?; How many people can {x} seat?; What is the capacity of {x}?",
    ),
    value(
        "bridge_length",
        subject_does="has a length | of",
        object_is="the length of {x}; {x's} length; the length from bank to bank of {x}; the total length of {x}",
        asks="How long is {x}?; How many metres long is {x}?; What is the length of {x}?",
    ),
    value(
        "industry",
        subject_does="is active | in; specialises~specialise | in; made~make its name | in",
        object_is="the industry of {x}; the line of business of {x}; {x's} line of business",
        asks="In what industry is {x} active?; In what does {x} specialise?; What line of business is {x} in?",
    ),
    value(
        "collection",
        subject_does="is devoted | to; has a collection | of",
        object_is="the subject of the collection of {x}; the speciality of {x}",
        asks="What is {x} devoted to?; What does {x} collect?; What can visitors see in {x}?; To what is {x} devoted?",
    ),
    value(
        "sport",
        subject_does="plays~play |; competes~compete | in",
        object_is="the sport of {x}; {x's} sport; the sport played by {x}",
        asks="Which sport does {x} play?; In which sport does {x} compete?; What sport is played by {x}?; "
        "What kind of sport does {x} play?",
    ),
)
