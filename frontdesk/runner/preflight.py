"""Each role of a run played once, before the run: the real prompt, sent and read as the run does it.

An endpoint that answers a friendly question may still refuse a judge's answer format, or have no system role; so
the student is asked as the student, contestants as contestants, and a judge judges a small match.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.acts import ModelActReader, read_act
from arena.asking import Reading
from arena.judge import judge_round
from arena.learning.labelling import ModelLabeller, read_labels
from arena.learning.quiz import Shown, read_choice, read_rating
from arena.matches import Match
from frontdesk.runner import plan, prepare
from frontdesk.runner.config import Config
from frontdesk.runner.estimate import Cap
from frontdesk.runner.hints import hint_of
from frontdesk.runner.knowing import Knowledge, labellers_of, taker_of
from frontdesk.runner.runfolder import default_folder
from gateway.adapters.base import EndpointSettings
from gateway.adapters.catalog import build, settings_of
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Answer, Prompt
from gateway.secrets import words_of
from knowledge.topic import Topic
from runstore.languages import Words, words
from runstore.records import ACTS, Act, Persona, Reply, Role, Subset, Usage, Utterance
from runstore.results import Result
from simulator.collect import reply_to
from simulator.conversation import weights_of
from simulator.knowledge.acts import Directions, Intention, card
from simulator.knowledge.rollout import Situation, situation
from simulator.roles import Roles
from simulator.speech import read_speech

_ADVICE = "its prompt, judge.format, max_output_tokens or the model may mend it"
_READERS = ("act reader", "labeller", "quiz", "own rating")
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
    sections = ("simulate",) if config.is_data_set else ("simulate", "collect", "judge")
    missing = [f"[{name}]" for name in sections if getattr(config, name) is None]
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
            reader, said = cast.conversation.reader, question.text
            acts = _read_by(reader.name, reader.prompt((), said), lambda raw, end: read_act(raw, end, (said,)))
            yield reader.name, "act reader", acts
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
        known = Knowledge.load(config)
        topic = next(iter(known.bank.topics.values()))
        better = sample("better")
        for labeller in labellers_of(config, prepare.prompts_of(config)):
            if isinstance(labeller, ModelLabeller):
                yield labeller.name, "labeller", _labeller(labeller, topic, better)
        if config.student is not None:
            person = Persona(
                id="check",
                levels={},
                language=language,
                text=words("simulator", "knowledge", language)("somebody"),
            )
            at = situation(subset, topic, person, known.learning, config.run.seed)
            yield from _students_side(config, at, (*subset.history, Utterance(role="teacher", text=better)))


def _labeller(labeller: ModelLabeller, topic: Topic, said: str) -> Play:
    """Who reads the moves of tutors, shown one utterance about a topic."""

    def read(raw: str, finish: str) -> Reading[object]:
        return read_labels(topic, raw, said, finish=finish, node="check", labeller=labeller.name)

    return _read_by(labeller.name, labeller.prompt(topic, "", said), read)


def _fields(subject: str) -> dict[str, str]:
    return {"dialogue_id": "check", "topic": subject}


def _student(cast: prepare.Simulation, sample: Words) -> Play:
    person, question, how = cast.people[0], cast.questions[0], cast.conversation
    weights = weights_of(how, person)
    planned: list[Act] = [act for act in ACTS if weights[act]] if how.acts == "planned" else []
    history = [Utterance(role="student", text=question.text), Utterance(role="teacher", text=sample("better"))]

    prompt = cast.roles.student_prompt(person, history, planned[0] if planned else None, _fields(question.subject))
    return _speaking(how.student, prompt, "student")


def _teacher(cast: prepare.Simulation) -> Play:
    question, how = cast.questions[0], cast.conversation
    history = [Utterance(role="student", text=question.text)]
    prompt = cast.roles.teacher_prompt(history, how.style, _fields(question.subject))
    return _speaking(how.teacher, prompt, "teacher")


def _speaking(name: str, prompt: Prompt, role: Role) -> Play:
    """Whose reply is an utterance; only a student may end the conversation instead."""

    async def play(ask: _Listening) -> Played:
        speech = read_speech((await ask(name, prompt, stage="check", item=role)).text, role)
        if speech.is_blank and not (speech.ended and role == "student"):
            return Played(ask.answer.text, f"nothing of the reply is the {role}'s: change its prompt or the model")
        return Played(speech.text or ask.answer.text)

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


def _students_side(config: Config, at: Situation, talk: Sequence[Utterance]) -> Iterator[tuple[str, str, Play]]:
    """Who words the student's utterances, where nobody did so before; who takes the quiz and rates the tutor."""
    student, _ = plan.speakers(config)
    prompts = prepare.prompts_of(config)
    if student is not None and (config.simulate is None or student != config.simulate.student):
        direction = Directions.load(config.run.language, prompts).direction(
            at.topic, at.state, Intention("follow_up")
        )
        roles = Roles.load(config.run.language, prompts, [])
        prompt = roles.student_prompt(at.persona, talk, "follow_up", _fields(at.subset.subject), direction)
        yield student, "student", _speaking(student, prompt, "student")
    taker = taker_of(config, student, prompts)
    if taker is not None and taker.takes:
        shown = Shown.drawn(at.topic.items[0], config.run.seed, "drawn", "check")
        prompt = taker.prompt(card(at.topic, at.state), talk, shown)
        yield taker.name, "quiz", _read_by(taker.name, prompt, lambda raw, end: read_choice(shown, raw, end, talk))
    if taker is not None and taker.rates:
        prompt = taker.rating_prompt(talk)
        yield taker.name, "own rating", _read_by(taker.name, prompt, lambda raw, end: read_rating(raw, end, talk))


def _read_by(name: str, prompt: Prompt, read: Callable[[str, str], Reading[object]]) -> Play:
    """Somebody whose answer is read, as the run reads it."""

    async def play(ask: _Listening) -> Played:
        answer = await ask(name, prompt, stage="check", item="check")
        reading = read(answer.text, answer.finish)
        is_used = reading.is_readable and reading.is_whole
        return Played(answer.text, None if is_used else _unread(reading.reason))

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
