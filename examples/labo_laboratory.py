"""LABO with a chat endpoint as its cheap predictor: python examples/labo_laboratory.py [BUDGET] [BASE_URL MODEL]

Without BASE_URL and MODEL a stand-in for a language model is served on this machine: it believes that hotter is better,
answers every seventh question in prose and fails with a 500 now and then. Such answers are dropped and counted, never
turned into numbers. The laboratory is simulated.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

from scisuite.solvers.labo import LABO, EndpointOracle, Space

SPACE = Space.from_bounds(temperature=(20, 120, "degC"), loading=(0.5, 5, "mol%"), solvent=["DMF", "MeCN", "THF"])


def measure(conditions: dict[str, Any]) -> float:
    """The real experiment: a yield in %."""
    best_temperature, ceiling = {"DMF": (75, 92), "MeCN": (90, 70), "THF": (60, 55)}[conditions["solvent"]]
    off = ((conditions["temperature"] - best_temperature) / 35) ** 2 + ((conditions["loading"] - 2.5) / 2) ** 2
    return ceiling * math.exp(-off)


def optimise(oracle: EndpointOracle, budget: int, state: Path) -> LABO:
    """The whole loop; begun again with the same ``state`` it goes on where it was."""
    told = {"task": "Palladium-catalysed coupling.", "value_name": "yield", "unit": "%", "value_range": (0, 100)}
    optimiser = LABO(SPACE, oracle=oracle, budget=budget, n_latin=20, max_llm=100, seed=0, state=state, **told)
    while not optimiser.done:
        for query in optimiser.ask():
            optimiser.tell(query, measure(query.x))
    return optimiser


@contextmanager
def stand_in() -> Iterator[str]:
    """The base URL of an OpenAI-compatible endpoint on this machine, for as long as the block lasts."""
    questions = count(1)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
            number = next(questions)
            temperature = re.search(r"temperature = ([\d.]+)", question)
            if temperature is None or number % 7 == 0:
                text = "As a language model I would look into the literature first."
            else:
                text = json.dumps({"value": round(0.7 * float(temperature.group(1)), 1)})
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            reply = {
                "id": str(number),
                "object": "chat.completion",
                "created": 0,
                "model": "stand-in",
                "choices": [choice],
            }
            body = json.dumps(reply).encode()
            self.send_response(500 if number % 25 == 0 else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def main(arguments: list[str]) -> None:
    budget = int(arguments[0]) if arguments else 10
    with tempfile.TemporaryDirectory() as folder:
        log, state = Path(folder) / "chat.jsonl", Path(folder) / "campaign.json"
        if len(arguments) == 3:
            oracle = EndpointOracle(arguments[2], base_url=arguments[1], log=log)
            optimiser = optimise(oracle, budget, state)
        else:
            with stand_in() as base_url:
                oracle = EndpointOracle("stand-in", base_url=base_url, api_key="none", log=log)
                optimiser = optimise(oracle, budget, state)
        conditions, best = optimiser.best or ({}, math.nan)
        print(f"best yield {best:.1f} % at {conditions}")
        print(
            f"{optimiser.n_real} experiments, {oracle.n_queries} questions, {oracle.n_failed} without a usable answer"
        )
        print(f"{len(log.read_text().splitlines())} exchanges were logged")


if __name__ == "__main__":
    main(sys.argv[1:])
