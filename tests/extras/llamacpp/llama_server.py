"""A real llama.cpp server with SmolLM2's four-bit weights, as the package index ships both; it says its address, and
serves until it is stopped: `python llama_server.py FILE.gguf`."""

from __future__ import annotations

import signal
import sys

import xllamacpp


def main(weights: str) -> None:
    settings = xllamacpp.CommonParams()
    settings.model.path = weights
    settings.model_alias = {"smollm2"}
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.n_parallel, settings.n_ctx = 4, 4 * 8192
    # Two would wait for each other wherever something else wants a core.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1])
