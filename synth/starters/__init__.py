"""Packages to begin with, one for each kind of part that another package can add: `synth new` copies them."""
