"""One file for each kind of error. It proposes; :mod:`synth.annotate.preferences.perturb.run` carries it out."""
