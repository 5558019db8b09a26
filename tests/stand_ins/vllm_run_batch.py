"""A `vllm run-batch` without a model: the arguments, files and lines of vLLM's own
(vllm/entrypoints/openai/run_batch.py), which writes replies in the order of the input, and those that failed with a
status and no body.

STAND_IN_RUNS names a file that gets a line per start; STAND_IN_STOPS_AFTER: it ends with 1 after so many replies.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["run-batch"])
    parser.add_argument("-i", "--input-file", required=True)
    parser.add_argument("-o", "--output-file", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--served-model-name", nargs="+")
    parser.add_argument("--max-model-len", type=int, default=100_000)
    given = parser.parse_args()
    with Path(os.environ["STAND_IN_RUNS"]).open("a") as runs:
        print(time.time(), "begins", given.model, file=runs)
    if given.model == "broken":
        print("ValueError: no such model", file=sys.stderr)
        return 1
    left = int(os.environ.get("STAND_IN_STOPS_AFTER", "1000000"))
    lines = Path(given.input_file).read_text().splitlines()
    with Path(given.output_file).open("w") as output:
        for number, line in enumerate(map(json.loads, lines)):
            if number == left:
                return 1
            body = line["body"]
            assert body["model"] in given.served_model_name
            text = body["messages"][-1]["content"]
            response: dict[str, object] = {"status_code": 200, "request_id": f"vllm-batch-{number}", "body": None}
            error = None
            if len(text) > given.max_model_len:
                response["status_code"] = 400
                words = f"This model's maximum context length is {given.max_model_len} tokens."
                error = {"error": {"message": words, "type": "BadRequestError", "param": None, "code": 400}}
            else:
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", "content": text.upper()},
                    "finish_reason": "stop",
                }
                usage = {"prompt_tokens": len(text), "completion_tokens": len(text), "total_tokens": 2 * len(text)}
                response["body"] = {"id": "c", "model": body["model"], "choices": [choice], "usage": usage}
            plain = {"id": f"vllm-{number}", "custom_id": line["custom_id"], "response": response, "error": error}
            output.write(json.dumps(plain) + "\n")
            output.flush()
            time.sleep(float(os.environ.get("STAND_IN_SECONDS", "0")))
    with Path(os.environ["STAND_IN_RUNS"]).open("a") as runs:
        print(time.time(), "ends", given.model, file=runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
