"""Ask, tell, remember: queries, answers, the state file, and everything that is refused."""

from __future__ import annotations

import json
import math
import os
import signal
from dataclasses import asdict, replace

import numpy as np
import pytest

from scisuite.core import Continuous, DamagedFile, EngineFailure, Integer, InvalidInput, NewerFormat, Space
from scisuite.core.files import jsonable
from scisuite.solvers.labo import LABO, Problem, RandomSearch, SolverOracle
from scisuite.solvers.labo.baselines import VanillaUCB
from scisuite.solvers.labo.oracles import LLMPrediction, OracleError
from scisuite.solvers.labo.records import PoolExhausted

SPACE = Space.from_bounds(x=(0, 10), y=(-1, 1))
POOL = np.random.default_rng(0).random((30, 2))


def truth(encoded):
    return float(100 - 80 * np.square(np.asarray(encoded) - 0.4).sum())


def guess(x):
    return 20 + 30 * np.cos(3 * x[:, 0]) - 10 * x[:, 1]


def make(**options):
    """A small campaign on a pool; ``oracle=None`` hands the language model's queries out as well."""
    settings = {"oracle": SolverOracle(guess), "pool": POOL, "budget": 7, "n_latin": 6, "max_llm": 25, **options}
    return LABO(SPACE, settings.pop("oracle"), **settings)


def answer(query):
    return truth(query.encoded) if query.source == "real" else float(guess(np.array([query.encoded]))[0])


def finish(campaign):
    while not campaign.done:
        query = campaign.ask()[0]
        campaign.tell(query, answer(query))
    return campaign


def text(campaign):
    """Everything that was asked and answered, comparable where values are NaN."""
    return json.dumps(jsonable([asdict(step) for step in campaign.trace.steps]))


def answers(campaign):
    return [(step.query, step.value, step.p_delta, step.rho) for step in campaign.trace.steps]


def snapshot(campaign):
    return (text(campaign), str(campaign._pending), campaign.n_real, campaign.n_llm, campaign.n_failed, campaign.best)


class Failing:
    """An oracle that answers NaN at chosen rows, and counts nothing."""

    problem = None

    def __init__(self, fails):
        self.fails = fails

    def bind(self, problem):
        self.problem = problem
        return self

    def predict(self, x):
        mean = np.where([self.fails(row) for row in x], np.nan, guess(x))
        return LLMPrediction(mean, None, int(np.isnan(mean).sum()))


# Asking and telling ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", [None, "guess"])
def test_asking_twice_gives_the_same_queries(oracle):
    campaign = make(oracle=oracle and SolverOracle(guess))
    while not campaign.done:
        queries = campaign.ask()
        assert queries == campaign.ask()
        assert len({query.id for query in queries}) == len(queries)
        campaign.tell(queries[0], answer(queries[0]))
        assert queries[0] not in campaign.ask()
    assert campaign.ask() == []


def test_with_an_oracle_only_real_runs_come_out_and_their_points_are_in_the_users_units():
    campaign = make()
    while not campaign.done:
        for query in campaign.ask():
            assert query.source == "real"
            assert query.encoded == tuple(POOL[query.index])
            assert query.x == SPACE.decode([query.encoded])[0]
            assert set(query.x) == {"x", "y"}
            campaign.tell(query, answer(query))
    assert campaign.n_real == campaign.budget == 7


def test_an_oracle_inside_and_the_same_answers_from_outside_give_the_same_real_runs():
    inside, outside = finish(make()), finish(make(oracle=None))
    # Within a batch the order differs: outside, a point's real run may come before the next point's guess.
    assert sorted(map(str, answers(inside))) == sorted(map(str, answers(outside)))
    assert inside.n_warm_start == outside.n_warm_start == 6


def test_answers_may_come_in_any_order():
    campaign = make(starts=POOL[:3])
    first, second, third = campaign.ask()
    for query in (third, first, second):
        campaign.tell(query, answer(query))
    assert [step.query.id for step in campaign.trace.steps if step.query.source == "real"] == [
        third.id,
        first.id,
        second.id,
    ]
    assert finish(campaign).n_real == 7


def test_the_batch_size_of_one_request():
    campaign = make(gate="always", budget=10)
    for query in campaign.ask():
        campaign.tell(query, answer(query))
    assert len(campaign.ask(q=4)) == 4
    assert len(campaign.ask(q=1)) == 4  # those four are still pending
    for bad in (0, -1, 1.5, True, "2"):
        with pytest.raises(InvalidInput, match=f"q must be an integer of at least 1, not {bad!r}"):
            campaign.ask(q=bad)


def test_the_last_batch_is_trimmed_to_the_budget():
    campaign = make(gate="always", budget=6, q=4)
    sizes = []
    while not campaign.done:
        queries = campaign.ask()
        sizes.append(len(queries))
        for query in queries:
            campaign.tell(query, answer(query))
    assert sizes == [3, 3]


def test_the_trace_counts_and_keeps_the_best():
    campaign = finish(make())
    real = [step for step in campaign.trace.steps if step.query.source == "real"]
    np.testing.assert_array_equal(campaign.trace.real_values(), [step.value for step in real])
    np.testing.assert_array_equal(campaign.trace.best_values(), np.maximum.accumulate([step.value for step in real]))
    assert [step.n_real for step in real] == list(range(1, 8))
    last = campaign.trace.steps[-1]
    assert (last.n_real, last.n_llm) == (campaign.n_real, campaign.n_llm)
    point, value = campaign.best
    assert value == max(campaign.trace.real_values())
    assert truth(SPACE.encode([point])[0]) == pytest.approx(value)
    assert make().best is None


def test_run_answers_from_a_scenario_and_stops_at_a_smaller_budget():
    class Laboratory:
        rows = 0

        def evaluate(self, x):
            self.rows += len(x)
            return np.array([truth(row) for row in x])

    laboratory, campaign = Laboratory(), make(gate="always")
    campaign.run(laboratory, budget=4)
    assert campaign.n_real == laboratory.rows == 4
    assert len(campaign.run(laboratory).real_values()) == laboratory.rows == 7
    assert text(campaign) == text(finish(make(gate="always")))


@pytest.mark.parametrize("kind", [LABO, VanillaUCB])
def test_run_without_an_oracle_is_refused_where_a_language_model_would_be_asked(kind):
    campaign = kind(SPACE, pool=POOL, budget=5, n_latin=4)
    with pytest.raises(InvalidInput, match="run needs an oracle; without one, use ask and tell"):
        campaign.run(None)
    assert campaign.trace.steps == []


def test_decide_takes_one_decision_at_a_time():
    campaign = make(tau=1.0)
    assert campaign.decide() == []  # the warm start, answered inside
    assert campaign.n_llm == 6
    for query in campaign.decide():
        campaign.tell(query, answer(query))
    assert campaign.n_real == 3
    assert campaign.decide() == []  # a closed gate: two more answers, no run
    assert (campaign.n_llm, campaign.n_real) == (8, 3)


# Bad answers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "y must be finite, not nan"),
        (math.inf, "y must be finite, not inf"),
        (np.float64(-np.inf), "y must be finite, not -inf"),
        (True, "y must be one number, not bool"),
        (np.bool_(True), "y must be one number, not bool"),
        ("3", "y must be one number, not str"),
        (None, "y must be one number, not NoneType"),
        ([1.0], "y must be one number, not list of length 1"),
        ((1.0, 2.0), "y must be one number, not tuple of length 2"),
        (np.zeros(3), "y must be one number, not ndarray of length 3"),
        (np.array(1.0), "y must be one number, not ndarray"),
        (1j, "y must be one number, not complex"),
        ({"y": 1.0}, "y must be one number, not dict"),
    ],
)
def test_a_bad_value_is_refused_and_changes_nothing(value, message, tmp_path):
    campaign = make(state=tmp_path / "state.json")
    query = campaign.ask()[1]
    before, file = snapshot(campaign), (tmp_path / "state.json").read_bytes()
    with pytest.raises(InvalidInput) as caught:
        campaign.tell(query, value)
    assert str(caught.value) == message
    assert snapshot(campaign) == before
    assert (tmp_path / "state.json").read_bytes() == file
    campaign.tell(query, 1)
    assert campaign.n_real == 1


def test_the_language_model_may_not_answer_infinity():
    campaign = make(oracle=None)
    query = campaign.ask()[0]
    assert query.source == "llm"
    with pytest.raises(InvalidInput, match="y must be finite, not inf"):
        campaign.tell(query, math.inf)
    assert campaign.n_llm == 0


def test_only_a_pending_query_can_be_told():
    campaign, other = make(), make(seed=1)
    query = campaign.ask()[0]
    strangers = [other.ask()[0], replace(query, id=999), replace(query, encoded=(0.0, 0.0)), None, 0, {"id": query.id}]
    campaign.tell(query, 1.0)
    before = snapshot(campaign)
    for stranger in [query, *strangers]:
        with pytest.raises(InvalidInput) as caught:
            campaign.tell(stranger, 1.0)
        assert str(caught.value) == "this query is not pending: it was told before, or comes from another campaign"
    assert snapshot(campaign) == before


# Bad settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 2}, "the budget of 2 real runs is less than the 3 starting points"),
        ({"q": 0}, "q must be at least 1, not 0"),
        ({"q": 1.0}, "q must be an integer, not 1.0"),
        ({"budget": True}, "budget must be an integer, not True"),
        ({"n_latin": -1}, "n_start >= 1, n_latin >= 0 and max_llm >= 0 are needed, not 3, -1, 25"),
        ({"n_start": 0}, "n_start >= 1, n_latin >= 0 and max_llm >= 0 are needed, not 0, 6, 25"),
        ({"n_start": 1}, "n_start must be at least 2: a model needs two real runs"),
        ({"max_llm": 8}, "max_llm = 8 does not cover the warm start of 3 + 6 queries"),
        ({"tau": -0.1}, "tau must be in [0, 1], not -0.1"),
        ({"tau": 1.1}, "tau must be in [0, 1], not 1.1"),
        ({"tau": math.nan}, "tau must be in [0, 1], not nan"),
        ({"tau": True}, "tau must be in [0, 1], not True"),
        ({"tau": "0.5"}, "tau must be in [0, 1], not '0.5'"),
        ({"beta": -1.0}, "beta must be finite and not negative, not -1.0"),
        ({"beta": math.inf}, "beta must be finite and not negative, not inf"),
        ({"gate": "open"}, "gate must be one of p_delta, always, variance, random, not 'open'"),
        ({"acquisition": "ei"}, "acquisition must be one of fused, real_only, prior_mean, llm_only, not 'ei'"),
        ({"rho_fit": "lasso"}, "rho_fit must be one of centred, origin, fixed, shrunk, not 'lasso'"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"starts": "best"}, 'starts must be "llm", "random" or encoded points, not \'best\''),
        ({"starts": POOL[:2]}, "starts has 2 points but n_start is 3"),
        ({"starts": POOL[[0, 1, 0]]}, "starts[2] repeats starts[0]; give every point once"),
        ({"starts": POOL[:3] + 1e-3}, "a starting point is not a row of the pool"),
        ({"starts": np.full((3, 2), np.nan)}, "holds NaN or infinity"),
        ({"starts": POOL[:3, :1]}, "x must have shape (n, 2), not (3, 1)"),
        ({"pool": POOL[:2]}, "the pool has 2 rows, fewer than the 3 starting points"),
        ({"pool": POOL + 0.5}, "is outside the space"),
        ({"pool": np.full((5, 2), np.nan)}, "holds NaN or infinity"),
        ({"pool": POOL[:, :1]}, "x must have shape (n, 2), not (30, 1)"),
        ({"pool": "table.csv"}, "x must be numbers of shape (n, 2)"),
        ({"pool": POOL[[0, 1, 2, 3, 1]]}, "pool[4] repeats pool[1]; give every point once"),
        ({"value_range": (1.0, 1.0)}, "value_range must be finite with low < high, not (1, 1)"),
    ],
)
def test_bad_settings_are_refused(options, message, tmp_path):
    with pytest.raises(InvalidInput) as caught:
        make(state=tmp_path / "state.json", **options)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_pool_off_the_simplex_is_refused():
    space = Space.from_bounds(simplex=True, a=(0, 1), b=(0, 1))
    with pytest.raises(InvalidInput) as caught:
        LABO(space, SolverOracle(guess), pool=[[0.5, 0.5], [0.3, 0.3], [1, 0], [0, 1]], budget=4)
    assert "x[1] = [0.3 0.3] is off the simplex (its values sum to 0.6)" in str(caught.value)


def test_an_empty_pool_is_exhausted_from_the_start():
    with pytest.raises(PoolExhausted, match="the pool is empty") as caught:
        make(pool=np.empty((0, 2)))
    assert isinstance(caught.value, EngineFailure)


def test_an_oracle_that_belongs_to_another_space_is_refused():
    oracle = SolverOracle(guess).bind(Problem(Space.from_bounds(x=(0, 1), y=(0, 1))))
    with pytest.raises(InvalidInput, match="the oracle is bound to a problem with another space"):
        make(oracle=oracle)


# Failing language models, small pools ---------------------------------------------------------------------------


def test_a_failed_answer_drops_its_candidate_and_is_counted():
    campaign = make(oracle=None, gate="always")
    while campaign.n_real < 3:
        query = campaign.ask()[0]
        campaign.tell(query, answer(query))
    pending = campaign.ask()
    assert [query.source for query in pending] == ["llm", "real", "llm", "real"]
    campaign.tell(pending[0], math.nan)
    assert campaign.n_failed == 1
    assert campaign.n_llm == 7
    assert [query.id for query in campaign.ask()] == [query.id for query in pending[2:]]
    finish(campaign)
    assert pending[0].index not in {s.query.index for s in campaign.trace.steps if s.query.source == "real"}
    assert campaign.n_real == campaign.budget
    failed = [step for step in campaign.trace.steps if math.isnan(step.value)]
    assert [step.query for step in failed] == [pending[0]]


def test_failed_answers_inside_are_skipped_for_the_next_best():
    campaign = finish(make(oracle=Failing(lambda row: row[0] < 0.3), budget=10))
    runs = [s.query.encoded for s in campaign.trace.steps if s.query.source == "real"]
    assert len(runs) == 10
    assert campaign.n_failed > 0
    assert all(row[0] >= 0.3 for row in runs)
    assert campaign.n_failed == sum(math.isnan(step.value) for step in campaign.trace.steps)


def test_a_start_whose_answer_fails_is_run_all_the_same():
    campaign = finish(make(oracle=Failing(lambda row: tuple(row) == tuple(POOL[1])), starts=POOL[:3]))
    assert [s.query.index for s in campaign.trace.steps if s.query.source == "real"][:3] == [0, 1, 2]
    assert campaign.n_real == 7


def test_an_oracle_that_answers_nothing_stops_the_campaign_which_may_be_asked_again():
    answers = {"works": False}
    oracle = SolverOracle(lambda x: guess(x) if answers["works"] else np.full(len(x), np.nan))
    campaign = make(oracle=oracle)
    for _ in range(2):
        with pytest.raises(OracleError, match="answered none of the last"):
            campaign.ask()
        assert (campaign.n_llm, campaign.n_real, campaign.trace.steps) == (0, 0, [])
    answers["works"] = True
    assert text(finish(campaign)) == text(finish(make()))


def test_an_oracle_that_fails_to_propose_may_be_asked_again():
    class Proposing(SolverOracle):
        works = False

        def propose(self, n, rng):
            if not self.works:
                raise OracleError("the line is dead")
            return POOL[:n]

    oracle = Proposing(guess)
    campaign = make(oracle=oracle)
    with pytest.raises(OracleError, match="the line is dead"):
        campaign.ask()
    oracle.works = True
    assert [query.index for query in campaign.ask()] == [0, 1, 2]


def test_a_language_model_that_always_fails_costs_no_real_run():
    campaign = make(oracle=Failing(lambda row: True), max_llm=15)
    finish(campaign)
    assert campaign.n_real == campaign.budget
    assert campaign.n_failed == campaign.n_llm == 15


def test_a_pool_smaller_than_the_budget_ends_with_its_runs_intact():
    campaign = make(pool=POOL[:5], budget=8, n_latin=2, max_llm=50)
    with pytest.raises(PoolExhausted, match="no point is left after 5 of 8 real runs"):
        finish(campaign)
    assert campaign.n_real == len(campaign.trace.real_values()) == 5
    assert campaign.best[1] == max(truth(row) for row in POOL[:5])
    with pytest.raises(PoolExhausted):
        campaign.ask()


def test_a_discrete_space_without_a_pool_runs_out_too():
    space = Space.from_bounds(kind=["A", "B", "C", "D"])
    campaign = LABO(space, SolverOracle(lambda x: x[:, 0]), budget=6, n_latin=4, starts=np.eye(4)[:3])
    with pytest.raises(PoolExhausted, match="no point is left after 4 of 6 real runs"):
        while not campaign.done:
            for query in campaign.ask():
                campaign.tell(query, float(query.encoded[3]))
    assert campaign.best == ({"kind": "D"}, 1.0)


# The state file -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", [None, "guess", "failing"])
@pytest.mark.parametrize("kind", [LABO, VanillaUCB, RandomSearch])
def test_resuming_after_every_single_tell_changes_nothing(tmp_path, oracle, kind):
    def build(**options):
        made = {"guess": SolverOracle(guess), "failing": Failing(lambda row: row[0] < 0.3)}.get(oracle)
        return kind(SPACE, made, pool=POOL, budget=6, n_latin=4, max_llm=16, seed=3, **options)

    uninterrupted = finish(build())
    campaign = build(state=tmp_path / "state.json")
    while not campaign.done:
        pending = campaign.ask()
        campaign = build(state=tmp_path / "state.json")
        assert campaign.ask() == pending
        campaign.tell(pending[0], answer(pending[0]))
        campaign = build(state=tmp_path / "state.json")
    assert text(campaign) == text(uninterrupted)
    for name in ("best", "n_real", "n_llm", "n_failed", "n_warm_start", "rho"):
        assert getattr(campaign, name) == getattr(uninterrupted, name), name


def test_resuming_on_a_mixed_space_without_a_pool(tmp_path):
    space = Space((Continuous("u", 0, 5), Integer("k", 1, 4), *Space.from_bounds(kind=["A", "B"]).dimensions))

    def build(**options):
        return LABO(space, SolverOracle(lambda x: x.sum(1)), budget=5, n_latin=4, max_llm=12, **options)

    uninterrupted = finish_mixed(build())
    campaign = build(state=tmp_path / "state.json")
    while not campaign.done:
        query = campaign.ask()[0]
        campaign.tell(query, query.encoded[0] * query.x["k"])
        campaign = build(state=tmp_path / "state.json")
    assert text(campaign) == text(uninterrupted)


def finish_mixed(campaign):
    while not campaign.done:
        query = campaign.ask()[0]
        campaign.tell(query, query.encoded[0] * query.x["k"])
    return campaign


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("survived", [1, 4, 7])
def test_a_kill_in_the_middle_of_writing_loses_at_most_the_last_answer(tmp_path, survived):
    path = tmp_path / "state.json"
    child = os.fork()
    if child == 0:  # a real process, really killed, between writing the new file and putting it in place
        replace_file, writes = os.replace, []

        def killed(source, target):
            writes.append(target)
            if len(writes) > survived:
                os.kill(os.getpid(), signal.SIGKILL)
            replace_file(source, target)

        os.replace = killed
        try:
            finish(make(state=path))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    resumed = make(state=path)
    assert resumed.trace.steps
    assert not resumed.done
    assert text(finish(resumed)) == text(finish(make()))


def test_a_finished_campaign_stays_finished(tmp_path):
    finish(make(state=tmp_path / "state.json"))
    again = make(state=tmp_path / "state.json")
    assert again.done
    assert again.ask() == []
    assert again.best == finish(make()).best


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"seed": 1}, "seed"),
        ({"budget": 9}, "budget"),
        ({"max_llm": 30}, "max_llm"),
        ({"maximise": False}, "maximise"),
        ({"tau": 0.5, "beta": 1.0}, "tau, beta"),
        ({"rho_fit": "origin"}, "rho_fit"),
        ({"rho": 1.0}, "rho"),
        ({"sigma_l_includes_noise": True}, "sigma_l_includes_noise"),
        ({"gate": "variance", "variance_threshold": 0.2}, "gate, variance_threshold"),
        ({"starts": POOL[:3]}, "starts"),
        ({"pool": POOL[::-1]}, "pool"),
        ({"pool": None}, "pool"),
        ({"n_latin": 7}, "n_latin"),
    ],
)
def test_the_state_of_another_campaign_is_refused_naming_what_differs(options, named, tmp_path):
    path = tmp_path / "state.json"
    make(state=path).ask()
    before = path.read_bytes()
    with pytest.raises(InvalidInput) as caught:
        make(state=path, **options)
    assert str(caught.value) == f"{path} belongs to a campaign with another {named}"
    assert path.read_bytes() == before


def test_the_state_of_another_space_or_method_is_refused(tmp_path):
    path = tmp_path / "state.json"
    make(state=path).ask()
    with pytest.raises(InvalidInput, match="belongs to a campaign with another kind"):
        VanillaUCB(SPACE, SolverOracle(guess), pool=POOL, budget=7, n_latin=6, max_llm=25, state=path)
    with pytest.raises(InvalidInput, match="belongs to a campaign with another space"):
        LABO(
            Space.from_bounds(x=(0, 11), y=(-1, 1)),
            SolverOracle(guess),
            pool=POOL,
            budget=7,
            n_latin=6,
            max_llm=25,
            state=path,
        )


def test_a_damaged_or_newer_state_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "state.json"
    campaign = make(state=path)
    campaign.tell(campaign.ask()[0], 1.0)
    whole = path.read_bytes()
    state = json.loads(whole)

    def without(name):
        return json.dumps({key: value for key, value in state.items() if key != name}).encode()

    damaged = {
        b"": "is not valid JSON",
        whole[: len(whole) // 2]: "is not valid JSON",
        whole[:-3]: "is not valid JSON",
        b"[]": "is not the state of a campaign",
        b'{"format": "another"}': "is not the state of a campaign",
        without("version"): "version None is not a version",
        json.dumps({**state, "version": "1"}).encode(): "version '1' is not a version",
        without("settings"): "is incomplete: it names no settings",
        json.dumps({**state, "settings": 3}).encode(): "is incomplete: it names no settings",
        without("steps"): "is incomplete: 'steps'",
        without("pending"): "is incomplete: 'pending'",
        without("stage"): "is incomplete: 'stage'",
        json.dumps({**state, "steps": [{}]}).encode(): "is incomplete: 'query'",
        json.dumps({**state, "steps": 3}).encode(): "is incomplete",
    }
    for content, message in damaged.items():
        path.write_bytes(content)
        with pytest.raises(DamagedFile, match=message):
            make(state=path)
        assert path.read_bytes() == content
    path.write_text(json.dumps({**state, "version": 2}))
    with pytest.raises(NewerFormat, match="has version 2; this scisuite reads up to 1: upgrade scisuite"):
        make(state=path)
    path.write_bytes(whole)
    assert make(state=path).n_real == 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    campaign = make(state=tmp_path / "file" / "state.json")
    with pytest.raises(InvalidInput, match="cannot write"):
        campaign.ask()


# A chemist ------------------------------------------------------------------------------------------------------


def test_the_chemist_of_the_usage_page(tmp_path):
    space = Space.from_bounds(temperature=(20, 120, "degC"), loading=(0.5, 5, "mol%"), solvent=["DMF", "MeCN", "THF"])

    def measure(x):
        assert 20 <= x["temperature"] <= 120
        assert 0.5 <= x["loading"] <= 5
        best = {"DMF": 90, "MeCN": 60, "THF": 75}[x["solvent"]]
        return best - 0.01 * (x["temperature"] - 85) ** 2 - 3 * (x["loading"] - 2) ** 2

    def chat(points):  # what a language model would say: right about the solvent, vague about the rest
        return [50 + 20 * (p["solvent"] == "DMF") - abs(p["temperature"] - 70) / 5 for p in points]

    def optimiser():
        return LABO(
            space,
            oracle=SolverOracle(chat, inputs="points"),
            budget=6,
            n_latin=10,
            max_llm=20,
            state=tmp_path / "campaign.json",
            value_name="yield",
            unit="%",
            value_range=(-200.0, 100.0),
        )

    first = optimiser()
    for query in first.ask():
        first.tell(query, measure(query.x))
    resumed = optimiser()
    while not resumed.done:
        for query in resumed.ask():
            resumed.tell(query, measure(query.x))
    point, value = resumed.best
    assert point["solvent"] == "DMF"
    assert value == measure(point) > 60
    assert resumed.n_real == 6


def test_a_function_takes_the_language_models_place_as_it_is():
    space = Space.from_bounds(x=(0, 1), y=(0, 1))
    optimiser = LABO(space, oracle=lambda rows: -np.square(rows - 0.4).sum(1), budget=4, n_latin=6)
    for query in optimiser.ask():
        optimiser.tell(query, 0.0)
    assert optimiser.n_llm == 6


@pytest.mark.parametrize(("oracle", "words"), [(5, "fitted solver or a function"), ("smollm", "unknown oracle")])
def test_what_cannot_answer_is_no_oracle(oracle, words):
    with pytest.raises(InvalidInput, match=words):
        LABO(Space.from_bounds(x=(0, 1)), oracle=oracle, budget=4, n_latin=6)


def test_a_space_of_choices_is_screened_without_repetition():
    space = Space.from_bounds(solvent=["DMF", "THF", "MeCN"], base=["K2CO3", "Et3N"])
    optimiser = LABO(space, oracle=lambda rows: rows @ np.arange(space.d), budget=6, n_latin=4)
    seen = []
    while not optimiser.done:
        for query in optimiser.ask():
            seen.append(tuple(query.x.values()))
            optimiser.tell(query, float(np.dot(query.encoded, np.arange(space.d))))
    assert len(seen) == len(set(seen)) == 6
    assert optimiser.best[0] == {"solvent": "MeCN", "base": "Et3N"}
