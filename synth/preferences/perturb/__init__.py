"""One file per thing that can be done wrong. Each proposes; :mod:`synth.preferences.perturb.run` carries it out."""
