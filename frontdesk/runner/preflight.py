"""Each role of a run played once, before the run: the real prompt, sent and read as the run does it.

An endpoint that answers a friendly question may still refuse a judge's answer format, or have no system role; so
the student is asked as the student, contestants as contestants, and a judge judges a small match.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from arena.acts import ModelActReader, read_act
from arena.judge import judge_round
from arena.learning.labelling import ModelLabeller, read_labels
from arena.matches import Match
from frontdesk.runner import prepare
from frontdesk.runner.config import Config
from frontdesk.runner.estimate import Cap
from frontdesk.runner.hints import hint_of
from frontdesk.runner.knowing import Knowledge, labellers_of
from frontdesk.runner.runfolder import default_folder
from gateway.adapters.base import EndpointSettings
from gateway.adapters.catalog import build, settings_of
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Answer, Prompt
from gateway.secrets import words_of
from knowledge.topic import Topic
from runstore.languages import Words, words
from runstore.records import ACTS, Act, Reply, SeedQuestion, Subset, Usage, Utterance
from runstore.results import Result
from simulator.collect import reply_to
from simulator.conversation import weights_of
from simulator.roles import Roles
from simulator.speech import read_speech

_ADVICE = "its prompt, judge.format, max_output_tokens or the model may mend it"
_READERS = ("act reader", "labeller")
"""Roles that are asked for JSON in any case."""
MOST_RETRIES = 1
"""A check is over soon: a server that is busy for a moment is asked once more."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one endpoint in one role: what it said, as far as the run would read it.

    ``failed``: the failure's kind, and ``unreadable`` for a reply that the run could not use; ``hint``: which
    setting may mend it.
    """

    endpoint: str
    role: str
    said: str
    failed: str | None = None
    hint: str = ""
    latency_s: float | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """``is_final``: no other command takes it, and no option of ``run`` helps."""

    reason: str
    is_final: bool = False


class Checking(Result):
    """What ``check --json`` prints of a valid configuration.

    ``refused``: why ``run`` would refuse it; ``caps``: those it would stop at; ``roles``: what came of each
    endpoint in each of its roles, none where nobody was asked; ``proxies``: by endpoint.
    """

    config: str
    exit_code: int
    endpoints: tuple[str, ...]
    refused: tuple[Refusal, ...]
    caps: tuple[Cap, ...]
    roles: tuple[Checked, ...]
    proxies: dict[str, tuple[str, ...]]


class Played(NamedTuple):
    """What was said in a role; ``useless``: why the run could not use it, if so."""

    said: str
    useless: str | None = None


class _Listening:
    """The gateway's ``ask``, which remembers the last answer: its model and its time."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.answer = Answer("")

    async def __call__(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer:
        self.answer = await self._gateway.ask(endpoint, prompt, repeat=repeat, stage=stage, item=item)
        return self.answer


Play = Callable[[_Listening], Awaitable[Played]]


def gateway_of(config: Config, *, offline: bool = False) -> Gateway:
    """The endpoints that a configuration uses (all, where no section names any), opened to be asked once, with
    everything else about it checked.

    Raises Problem, InputProblem for whatever would keep a run from its first call; ``offline`` needs no keys.
    """
    adapters = {name: build(name, _soon_over(name, config.endpoints[name])) for name in _asked(config)}
    gateway = Gateway(adapters, offline=offline, probing=True, words=words_of(config.model_dump()))
    prepare.check(config)
    return gateway


def refusals(config: Config, gateway: Gateway) -> list[Refusal]:
    """Why ``run`` would refuse the configuration, beyond what is found by opening it."""
    missing = [f"[{name}]" for name in ("simulate", "collect", "judge") if getattr(config, name) is None]
    refused = [Refusal(f"found no {', '.join(missing)} section")] if missing else []
    if (unpriced := prepare.unpriced(config)) is not None and prepare.is_capped_in_dollars_alone(config):
        refused.append(Refusal(unpriced, is_final=True))
    folder = default_folder(config, None)
    if (other := folder.other_configuration(config, gateway.redactor)) is not None:
        refused.append(Refusal(other))
    return refused


def _asked(config: Config) -> list[str]:
    return config.used_endpoints() or list(config.endpoints)


def _soon_over(name: str, table: Mapping[str, object]) -> dict[str, object]:
    return {**table, "retries": min(MOST_RETRIES, settings_of(name, table).retries)}


async def play_each(gateway: Gateway, config: Config) -> AsyncIterator[Checked]:
    """Every endpoint in every role that it has, one after the other."""
    async with gateway:
        for name, role, play in _parts(config):
            ask = _Listening(gateway)
            try:
                played = await play(ask)
            except CallFailed as failed:
                is_judge = role == "judge"
                asks_json = config.require_judge().format == "json" if is_judge else role in _READERS
                hint = hint_of(failed, gateway.endpoints[name], asks_json=asks_json, is_judge=is_judge)
                yield Checked(name, role, failed.message, failed.kind, hint)
                continue
            answer, failed_as, hint = ask.answer, None, ""
            if played.useless is not None:
                failed_as, hint = "unreadable", played.useless
            yield Checked(name, role, played.said, failed_as, hint, answer.latency_s, answer.model)


def _parts(config: Config) -> Iterator[tuple[str, str, Play]]:
    language = config.run.language
    sample = words("frontdesk.runner", "check", language)
    question = prepare.questions(config)[0]
    if config.simulate is not None:
        cast = prepare.simulation(config)
        yield config.simulate.student, "student", _student(cast, sample)
        yield config.simulate.teacher, "teacher", _teacher(cast)
        if isinstance(cast.conversation.reader, ModelActReader):
            yield cast.conversation.reader.name, "act reader", _act_reader(cast.conversation.reader, question)
    subset = Subset(
        id="check",
        dialogue="check",
        persona="check",
        question=question.id,
        subject=question.subject,
        language=language,
        cut=1,
        first=0,
        depth=1,
        history=(Utterance(role="student", text=question.text),),
    )
    names = config.collect.endpoints if config.collect is not None else _asked(config)
    if config.collect is not None or not config.used_endpoints():
        roles, settings = prepare.teachers(config, names)
        for name in names:
            yield name, "contestant", _contestant(name, subset, roles, settings[name])
    if config.judge is not None:
        for name in config.judge.endpoints:
            yield name, "judge", _judge(name, subset, sample, config)
    if config.student is not None or (config.simulate is not None and config.simulate.acts == "knowledge"):
        yield from _labellers(config, sample)


def _fields(question: SeedQuestion) -> dict[str, str]:
    return {"dialogue_id": "check", "topic": question.subject}


def _student(cast: prepare.Simulation, sample: Words) -> Play:
    person, question, how = cast.people[0], cast.questions[0], cast.conversation
    weights = weights_of(how, person)
    planned: list[Act] = [act for act in ACTS if weights[act]] if how.acts == "planned" else []
    history = [Utterance(role="student", text=question.text), Utterance(role="teacher", text=sample("better"))]

    async def play(ask: _Listening) -> Played:
        prompt = cast.roles.student_prompt(person, history, planned[0] if planned else None, _fields(question))
        speech = read_speech((await ask(how.student, prompt, stage="check", item="student")).text, "student")
        if speech.is_blank and not speech.ended:
            return Played(ask.answer.text, "nothing of the reply is the student's: change its prompt or the model")
        return Played(speech.text or ask.answer.text)

    return play


def _teacher(cast: prepare.Simulation) -> Play:
    question, how = cast.questions[0], cast.conversation

    async def play(ask: _Listening) -> Played:
        history = [Utterance(role="student", text=question.text)]
        prompt = cast.roles.teacher_prompt(history, how.style, _fields(question))
        speech = read_speech((await ask(how.teacher, prompt, stage="check", item="teacher")).text, "teacher")
        if speech.is_blank:
            return Played(ask.answer.text, "nothing of the reply is the teacher's: change its prompt or the model")
        return Played(speech.text)

    return play


def _contestant(name: str, subset: Subset, roles: Roles, settings: EndpointSettings) -> Play:
    async def play(ask: _Listening) -> Played:
        return Played((await reply_to(ask, subset, name, roles, settings)).text)

    return play


def _judge(name: str, subset: Subset, sample: Words, config: Config) -> Play:
    panel = prepare.panel(config)
    match = Match(subset, _reply(subset, "first", sample("better")), _reply(subset, "second", sample("worse")))

    async def play(ask: _Listening) -> Played:
        judgment = await judge_round(ask, panel, match, name, panel.how.criterion_ids[0], 1)
        if judgment.outcome != "unreadable":
            return Played(judgment.raw)
        return Played(judgment.raw, _unread(judgment.reason))

    return play


def _act_reader(reader: ModelActReader, question: SeedQuestion) -> Play:
    async def play(ask: _Listening) -> Played:
        answer = await ask(reader.name, reader.prompt((), question.text), stage="check", item="act")
        read = read_act(answer.text, answer.finish, quoted=(question.text,))
        return Played(answer.text, None if read.is_readable else _unread(read.reason))

    return play


def _labellers(config: Config, sample: Words) -> Iterator[tuple[str, str, Play]]:
    """Who reads the moves of tutors, each shown one utterance about the first topic."""
    topic = next(iter(Knowledge.load(config).bank.topics.values()))
    for labeller in labellers_of(config, prepare.prompts_of(config)):
        if isinstance(labeller, ModelLabeller):
            yield labeller.name, "labeller", _labeller(labeller, topic, sample("better"))


def _labeller(labeller: ModelLabeller, topic: Topic, said: str) -> Play:
    async def play(ask: _Listening) -> Played:
        prompt = labeller.prompt(topic, "", said)
        answer = await ask(labeller.name, prompt, stage="check", item="moves")
        read = read_labels(topic, answer.text, said, finish=answer.finish, node="check", labeller=labeller.name)
        return Played(answer.text, None if read.is_readable and read.is_whole else _unread(read.reason))

    return play


def _unread(reason: str | None) -> str:
    return f"a run could not read this ({reason or 'no decision'}): {_ADVICE}"


def _reply(subset: Subset, endpoint: str, text: str) -> Reply:
    return Reply(
        subset=subset.id,
        dialogue=subset.dialogue,
        endpoint=endpoint,
        text=text,
        finish="stop",
        usage=Usage(),
        latency_s=None,
        cost_usd=None,
    )
