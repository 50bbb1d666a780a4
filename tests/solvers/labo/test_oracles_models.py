"""Language models as oracles: what is asked, what counts as an answer, an endpoint's faults, and SmolLM2."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
import runpy
import socket
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scisuite.core import DataUnavailable, InvalidInput, Space
from scisuite.core.chat import ChatClient, ChatFailure, Reply
from scisuite.core.local_model import LocalModel, locate
from scisuite.core.replies import read_lines
from scisuite.solvers.labo.oracles import (
    CachedOracle,
    EndpointOracle,
    LocalModelOracle,
    OracleError,
    Problem,
    make_oracle,
    prompts,
)
from scisuite.solvers.labo.oracles.prompts import parse_value

_helper = runpy.run_path(str(Path(__file__).parents[2] / "fake_endpoint.py"))
FakeEndpoint, Answer = _helper["FakeEndpoint"], _helper["Answer"]

SPACE = Space.from_bounds(temperature=(20, 120, "degC"), solvent=["DMF", "MeCN", "THF"])
PROBLEM = Problem(SPACE, task="A coupling reaction.", value_name="yield", unit="%", value_range=(0, 100))
POINTS = [{"temperature": 20.0 + 10 * i, "solvent": "MeCN"} for i in range(8)]
X = SPACE.encode(POINTS)


def by_temperature(request):
    """Answers half the temperature that the question names."""
    temperature = float(re.search(r"temperature = ([\d.]+)", request["messages"][0]["content"]).group(1))
    return Answer(json.dumps({"value": temperature / 2}))


class Scripted:
    """A client that replies with what it is given, and fails on None."""

    name = "scripted"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.questions = []

    def complete(self, messages, **options):
        self.questions.append(messages[0]["content"])
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply is None:
            raise ChatFailure("silence")
        return Reply(reply, self.name)


def asked(*replies, problem=PROBLEM, **arguments):
    return EndpointOracle(client=Scripted(*replies), workers=1, **arguments).bind(problem)


@pytest.fixture
def endpoint():
    pytest.importorskip("openai", reason="an endpoint needs the extra llm")
    with FakeEndpoint(by_temperature) as running:
        yield running


def over_http(endpoint, **arguments):
    client = ChatClient("tiny", base_url=endpoint.url, timeout_s=5.0, sleep=lambda _: None, **arguments)
    return EndpointOracle(client=client).bind(PROBLEM)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"value": 12.5}', 12.5),
        (' {"value": 1e1, "unit": "%"} \n', 10.0),
        ('```json\n{"value": 3}\n```', 3.0),
        ("```\n4\n```", 4.0),
        ("71.5", 71.5),
        ("71.5 %", 71.5),
        ("71.5%", 71.5),
        ("-3", -3.0),
        ("+.5e1", 5.0),
        ("7.", 7.0),
    ],
)
def test_what_counts_as_a_number(text, value):
    assert parse_value(text, "%") == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The yield is 72 %.",
        "about 70",
        "70 to 80",
        "70 80",
        "1,5",
        "70 g",
        "nan",
        "inf",
        "Infinity",
        "1_000",
        "0x10",
        "½",
        "٣",
        "%",
        "1e999",
        "[70]",
        '"70"',
        '{"value": "70"}',
        '{"value": true}',
        '{"value": null}',
        '{"value": NaN}',
        '{"value": 1e999}',
        '{"value": 1' + "0" * 400 + "}",
        '{"value": [70]}',
        '{"value": 70, "unit": "g"}',
        '{"value": 70, "std": 1}',
        '{"yield": 70}',
        '{"value": 70',
        '{"value": 70} is my answer',
        '```json\n{"value": 70}',
        "{" * 5000,
        '{"a":' * 50000,
    ],
)
def test_what_does_not(text):
    assert math.isnan(parse_value(text, "%"))


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet='0123456789.eE+-{}":value nulltrue%`\n', max_size=30))
@example('{"value": 5}')
def test_no_reply_raises_and_numbers_are_finite(text):
    value = parse_value(text, "%")
    assert math.isnan(value) or math.isfinite(value)


@settings(max_examples=100, deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_as_it_was_written(value):
    assert parse_value(repr(value)) == parse_value(json.dumps({"value": value})) == value


def test_a_question_names_everything_in_the_users_units():
    oracle = asked('{"value": 5}')
    answer = oracle.predict(X[:1])
    assert list(answer.mean) == [5.0]
    question = oracle.client.questions[0]
    for part in ("A coupling reaction.", "yield (more is better)", "temperature = 20 degC, solvent = MeCN", "in %"):
        assert part in question
    assert "It lies between 0 % and 100 %." in question
    silent = asked("5", problem=Problem(SPACE, maximise=False))
    silent.predict(X[:1])
    assert "lies between" not in silent.client.questions[0]
    assert "less is better" in silent.client.questions[0]


def test_examples_are_shown_in_the_users_units():
    examples = [[POINTS[1], 40.0], [POINTS[2], 60.5]]
    assert "Known: temperature = 30 degC, solvent = MeCN gave 40 %; temp" in asked("5", examples=examples).prompt(X[0])
    assert "60.5" not in asked("5", examples=examples, shots=1).prompt(X[0])
    assert "Known" not in asked("5", examples=examples, shots=0).prompt(X[0])


def test_what_is_no_number_or_out_of_range_is_nan_and_counted():
    oracle = asked(
        '{"value": 5}', "I think 50", "150", '{"value": -1}', "NaN", "99.5 %", '{"value": 5, "unit": "g"}', None
    )
    answer = oracle.predict(X)
    np.testing.assert_array_equal(answer.mean, [5, np.nan, np.nan, np.nan, np.nan, 99.5, np.nan, np.nan])
    assert (answer.n_failed, oracle.n_failed, oracle.n_queries) == (6, 6, 8)
    assert answer.std is None


def test_a_model_that_only_chats_is_an_error():
    with pytest.raises(OracleError, match=r"scripted answered none of the last 8 questions \(8 of 8 failed\)"):
        asked("As an AI, I cannot measure.").predict(X)


def test_a_dead_endpoint_is_not_asked_to_the_end():
    oracle = asked(None)
    with pytest.raises(OracleError, match="answered none"):
        oracle.predict(np.repeat(X, 5, axis=0))
    assert len(oracle.client.questions) == 5


def refused(oracle, x=X):
    with pytest.raises(OracleError) as caught:
        oracle.predict(x)
    return str(caught.value).partition("failed): ")[2]


def test_the_error_counts_the_causes_the_most_frequent_first():
    assert refused(asked("140")) == "8 × 140 is outside the declared range [0, 100]"
    assert refused(asked("It depends\non the solvent.")) == "8 × no number in 'It depends on the solvent.'"
    assert refused(asked("140", "I say 50", "", "I say 50", None, "140", "I say 50")) == (
        "4 × no number in 'I say 50'; 2 × 140 is outside the declared range [0, 100]; 1 × an empty reply; 1 × silence"
    )
    assert refused(asked("140", "-3")) == "8 × -3 (or the like) is outside the declared range [0, 100]"
    assert refused(asked(None), np.repeat(X, 2, axis=0)) == "5 × silence; 11 × not asked after these"


def test_the_causes_are_those_of_the_failures_in_a_row(tmp_path):
    oracle = asked("5", "140", "silly", "silly", "140", "140", "140", "7", "dumb")
    assert oracle.predict(X[:3]).n_failed == 2
    assert oracle.predict(X[:4]).n_failed == 4
    assert oracle.predict(X[:1]).n_failed == 0
    assert refused(oracle) == "8 × no number in 'dumb'"
    oracle = asked("5", "140", "dumb")
    oracle.predict(X[:2])
    assert refused(oracle) == "8 × no number in 'dumb'; 1 × 140 is outside the declared range [0, 100]"
    cached = CachedOracle(asked("dumb"), tmp_path / "kept.jsonl").bind(PROBLEM)
    assert cached.predict(X[:4]).n_failed == 4
    again = CachedOracle(asked("140"), tmp_path / "kept.jsonl").bind(PROBLEM)
    assert again.predict(X[:4]).n_failed == 4
    assert refused(again, X[:5]) == (
        "8 × a failure kept in kept.jsonl (retry_failed=True asks again); "
        "1 × 140 is outside the declared range [0, 100]"
    )


def test_the_causes_over_http_never_hold_the_key(endpoint):
    endpoint.default = Answer("Incorrect API key sk-very-secret", status=401)
    oracle = over_http(endpoint, api_key="sk-very-secret")
    assert refused(oracle, X[:5]) == "5 × HTTP 401: Incorrect API key ***"
    endpoint.default = Answer("my key is sk-very-secret")
    assert refused(oracle, X[:5]) == "5 × HTTP 401: Incorrect API key ***; 5 × no number in 'my key is ***'"
    endpoint.script = [Answer(f"wait {n} s", status=429) for n in range(9)]
    assert "5 × HTTP 429: wait " in refused(over_http(endpoint, max_retries=0), X[:5])
    with FakeEndpoint() as gone:
        url = gone.url
    client = ChatClient("tiny", base_url=url, max_retries=0)
    assert refused(EndpointOracle(client=client).bind(PROBLEM)).startswith("8 × no connection (")
    with pytest.raises(InvalidInput, match="base_url must be a web address"):
        EndpointOracle("tiny", base_url="notaurl")


def test_answers_over_http_come_in_order(endpoint):
    oracle = over_http(endpoint)
    np.testing.assert_allclose(oracle.predict(X).mean, [p["temperature"] / 2 for p in POINTS])
    assert len(endpoint.requests) == 8


def test_faults_over_http_are_retried_then_dropped(endpoint):
    endpoint.script = [Answer(status=500)] * 4
    assert over_http(endpoint).predict(X).n_failed == 0
    endpoint.script = [Answer(status=400)] * 2 + [Answer("It will be 30 %.")] + [Answer(body=b"{")]
    answer = over_http(endpoint, max_retries=0).predict(X)
    assert answer.n_failed == 4
    assert np.isfinite(answer.mean[4:]).all()


def test_silence_over_http_is_dropped(endpoint):
    endpoint.script = [Answer(silence_s=5.0)] * 2
    client = ChatClient("tiny", base_url=endpoint.url, timeout_s=0.3, max_retries=0)
    answer = EndpointOracle(client=client, workers=2).bind(PROBLEM).predict(X[:4])
    np.testing.assert_array_equal(answer.mean[2:], [20.0, 25.0])
    assert answer.n_failed == 2


def test_made_by_name_cached_logged_copied_and_pickled(endpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    config = {"model": "tiny", "base_url": endpoint.url, "log": str(tmp_path / "log"), "cache": str(tmp_path / "cache")}
    oracle = make_oracle("endpoint", **config).bind(PROBLEM)
    assert isinstance(oracle, CachedOracle)
    first = oracle.predict(X).mean
    assert len(read_lines(tmp_path / "log")) == 8
    endpoint.default = Answer(status=500)
    for other in (make_oracle("endpoint", **config), copy.deepcopy(oracle), pickle.loads(pickle.dumps(oracle))):
        np.testing.assert_array_equal(other.bind(PROBLEM).predict(X).mean, first)
    assert len(endpoint.requests) == 8
    assert "sk-secret" not in (tmp_path / "cache").read_text() + (tmp_path / "log").read_text()


def test_proposals_come_from_the_model_and_bad_ones_are_replaced():
    good = {"temperature": 90, "solvent": "THF"}
    listed = [
        good,
        good,
        {"temperature": 900, "solvent": "THF"},
        {"solvent": "THF"},
        "hot",
        3,
        None,
        {"temperature": []},
    ]
    oracle = asked(json.dumps({"candidates": listed}))
    rows = oracle.propose(3, np.random.default_rng(0))
    assert SPACE.contains(rows).all()
    assert SPACE.decode(rows)[0] == good
    assert len(np.unique(rows, axis=0)) == 3
    assert "Suggest 3 different experiments, likely to give the highest yield" in oracle.client.questions[0]


@pytest.mark.parametrize("reply", [None, "Sure! Try 90 degrees.", "[]", '{"candidates": 3}', "[" * 100000])
def test_without_a_usable_suggestion_proposals_are_random(reply):
    rows = asked(reply).propose(3, np.random.default_rng(0))
    assert SPACE.contains(rows).all()
    assert len(np.unique(rows, axis=0)) == 3


def test_proposals_on_a_pool_are_its_rows():
    problem = Problem(SPACE, pool=X, value_range=(0, 100))
    listed = [{"temperature": 31, "solvent": "MeCN"}, {"temperature": 32, "solvent": "MeCN"}]
    rows = asked(json.dumps({"candidates": listed}), problem=problem).propose(4, np.random.default_rng(0))
    assert SPACE.decode(rows[:1])[0] == POINTS[1]
    assert SPACE.decode(rows[1:2])[0] in (POINTS[0], POINTS[2])
    assert len(np.unique(rows, axis=0)) == 4
    assert {row.tobytes() for row in rows} <= {row.tobytes() for row in X}
    with pytest.raises(InvalidInput, match="cannot propose 9 points: only 8 different ones were found"):
        asked("no", problem=problem).propose(9, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either model= .* or client="),
        ({"model": "a", "client": Scripted("1")}, "give either model= .* or client="),
        ({"client": Scripted("1"), "workers": 0}, r"workers must be an integer in \[1, 64\], not 0"),
        ({"client": Scripted("1"), "template": "{task}"}, r"template must hold \{point\}"),
        ({"client": Scripted("1"), "template": "{point} {colour}"}, r"template has unknown \{colour\}; known: task"),
        ({"client": Scripted("1"), "template": "{point"}, "template is not a format string"),
        ({"client": Scripted("1"), "template": 3}, "template must be a text, not int"),
        ({"client": Scripted("1"), "examples": [3]}, "an example must be"),
        (
            {"client": Scripted("1"), "examples": [[{}, float("nan")]]},
            "the value of an example must be a finite number",
        ),
        ({"client": Scripted("1"), "shots": 1}, r"shots must be an integer in \[0, 0\], the number of examples given"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        EndpointOracle(**arguments)


def test_examples_outside_the_space_are_refused_when_bound():
    oracle = EndpointOracle(client=Scripted("1"), examples=[({"temperature": 500, "solvent": "THF"}, 3.0)])
    with pytest.raises(InvalidInput, match="temperature = 500 is outside"):
        oracle.bind(PROBLEM)
    assert oracle.problem is None


class FakeLanguageModel:
    """Certain of the digit that is the temperature's tens."""

    name = "fake"

    def __init__(self):
        self.prompts = []

    def digit_probabilities(self, prompt, *, prefix=""):
        assert prompt.startswith(prefix)
        assert prefix
        self.prompts.append(prompt)
        digit = int(
            float(re.search(r"temperature = ([\d.]+) degC, solvent = \w+: yield = 0\.\Z", prompt).group(1)) // 10
        )
        return np.eye(10)[digit % 10]

    def complete(self, messages, **options):
        return Reply("I would say 50.", self.name)


@pytest.fixture
def local(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")

    def make(**arguments):
        oracle = LocalModelOracle(tmp_path, **arguments)
        oracle._language_model = FakeLanguageModel()
        return oracle

    return make


def test_digits_are_mapped_onto_the_declared_range(local):
    oracle = local().bind(PROBLEM)
    answer = oracle.predict(X)
    np.testing.assert_allclose(answer.mean, [25, 35, 45, 55, 65, 75, 85, 95])
    np.testing.assert_allclose(answer.std, 0, atol=1e-6)
    oracle._language_model.digit_probabilities = lambda prompt, prefix: np.full(10, 0.1)
    spread = oracle.predict(X[:1])
    assert spread.mean[0] == pytest.approx(50)
    assert spread.std[0] == pytest.approx(100 * np.std((np.arange(10) + 0.5) / 10))


def test_a_digit_prompt_shows_examples_in_its_own_words(local):
    examples = [(POINTS[0], 42.0), (POINTS[1], 100.0), (POINTS[2], 0.0)]
    prompt = local(examples=examples).bind(PROBLEM).prompt(X[3])
    assert prompt == (
        "Task: A coupling reaction.\nyield on a scale from 0.0 (0 %) to 1.0 (100 %).\n"
        "temperature = 20 degC, solvent = MeCN: yield = 0.4\n"
        "temperature = 30 degC, solvent = MeCN: yield = 0.9\n"
        "temperature = 40 degC, solvent = MeCN: yield = 0.0\n"
        "temperature = 50 degC, solvent = MeCN: yield = 0."
    )
    assert local().bind(PROBLEM).prompt(X[3]).count("temperature") == 1


def test_a_local_model_that_replies_in_prose_fails(local):
    oracle = local(mode="text").bind(PROBLEM)
    assert oracle.predict(X[:2]).n_failed == 2
    with pytest.raises(OracleError, match=r"fake\(text\) answered none of the last 10 questions"):
        oracle.predict(X)


def test_bad_local_models(local):
    with pytest.raises(InvalidInput, match="mode must be 'digits' or 'text', not 'chat'"):
        local(mode="chat")
    with pytest.raises(InvalidInput, match=r'template must end in "0\."'):
        local(template="{point} is")
    with pytest.raises(InvalidInput, match="digit scoring maps onto the declared range"):
        local().bind(Problem(SPACE))
    with pytest.raises(InvalidInput, match="no model at"):
        make_oracle("local", path="/nowhere/at/all")


def test_every_field_of_the_templates_is_known():
    known = prompts.fields(PROBLEM.context()) | {"examples": "", "point": ""}
    assert set(known) == set(prompts.FIELDS)


@pytest.mark.slow
def test_smollm2_answers_offline_within_the_range_and_replays(tmp_path, monkeypatch):
    pytest.importorskip("transformers", reason="a local model needs the extra llm")
    try:
        locate("smollm2")
    except DataUnavailable as error:
        pytest.skip(str(error))

    def refuse(self, address):
        raise AssertionError(f"a connection to {address} was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    oracle = make_oracle("local", cache=str(tmp_path / "cache")).bind(PROBLEM)
    answer = oracle.predict(X[:3])
    assert answer.n_failed == 0
    assert ((answer.mean > 0) & (answer.mean < 100)).all()
    assert len(set(answer.mean)) == 3
    assert (answer.std > 0).all()

    model = oracle.inner._language_model
    probabilities = model.digit_probabilities(oracle.prompt(X[0]))
    assert probabilities @ (np.arange(10) + 0.5) * 10 == pytest.approx(answer.mean[0], abs=1e-2)
    assert model.complete([{"role": "user", "content": "What is 2+2?"}], max_tokens=16).text

    def unused(self):
        raise AssertionError("the model was loaded for a replay")

    monkeypatch.setattr(LocalModel, "load", unused)
    replay = make_oracle("local", cache=str(tmp_path / "cache")).bind(PROBLEM)
    np.testing.assert_array_equal(replay.predict(X[:3]).mean, answer.mean)
