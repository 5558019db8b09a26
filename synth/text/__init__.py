"""English as text: words, sentences, lists, inflection, numbers and dates. Every part of synth reads and writes them
through this kit; only the audit has its own, as a second opinion."""
