"""Verbs of documentation."""

from __future__ import annotations

from synth.text.inflection import third_person

__all__ = ["THIRD_PERSON", "VERBS"]

VERBS = frozenset(
    """
    abort accept access accumulate acquire activate add adjust advance affect align allocate allow alter analyze
    annotate append apply arrange assemble assert assign associate attach attempt augment authenticate avoid await back
    begin bind block boot break broadcast bring build bypass cache calculate call cancel cast catch cause change
    check choose clean clear clone close cluster collapse collect combine commit compare compile complete compose
    compress compute concatenate configure connect construct consume contain continue contract control convert copy
    count cover create customize deal deactivate deallocate debug declare decode decompose decompress decrease
    decref decrement decrypt deepcopy define delay delegate delete deliver denote deny depend deprecate dequeue
    derive describe deserialize destroy detach detect determine differ disable disallow disassemble discard
    disconnect discuss dispatch display divide document download draw drop dump duplicate echo edit eliminate emit
    emulate enable encapsulate enclose encode encrypt end enforce enqueue ensure enter enumerate erase escape
    establish evaluate examine exchange exclude execute exempt exit expand expect explain export expose express
    extend extract facilitate fail fall feed fetch fill filter find finish fire fix fixate flush focus fold follow force
    forget fork format forward free freeze gather generate get give govern grant group guarantee guess guide handle help
    hide hold identify ignore illustrate implement import improve include increase increment indicate inherit
    inhibit initialize initiate insert inspect install instruct interact intercept interpret interrupt introduce
    invalidate invert invoke issue iterate join keep kill launch lay leave let limit link list listen load locate
    lock log look lower make manage manipulate map mark mask match measure merge migrate mimic mirror model modify
    monitor mount move multiply name negate negotiate normalize notify obtain offer omit open operate order organize
    outline output overlay override overwrite pack pad parse partition pass patch pause perform permit pick place
    play point poll pop populate position post prepare prepend present preserve prevent print process produce
    profile prompt protect provide publish pull purge push put quantize query queue quote raise rank reach read
    rebuild recalculate recheck recompute reconfigure reconnect record redirect redraw reduce refer reference refill
    reflect refresh refuse register reinitialize reject relate release reload relocate remove rename render reopen
    reorder repeat replace report represent request require reserve reset resize resolve respond restart restore
    restrict resume retrieve return reverse revert review revoke rewind rewrite roll rotate round run save scale
    scan schedule score scroll search seek select send separate serialize serve set setup shift share show shuffle shut
    shutdown signal signify simplify simulate skip sleep slice sort spawn specify split stack start stat state stop
    store strip submit subscribe subtract summarize supply support suppress suspend swap switch symlink sync
    synchronize take tell terminate test throw toggle touch trace track transfer transform translate transmit
    traverse treat trigger trim truncate try turn uncompress undo uninstall unlink unload unlock unpack unquote
    unregister unset unwrap update upgrade upload use validate verify view visit wait wake walk warn watch weaken
    work wrap write yield
    """.split()
)
"""Base forms of the verbs that documentation begins its sentences with."""
THIRD_PERSON = frozenset(third_person(verb) for verb in VERBS) | {"has", "does"}
