"""What a topic may not be: malformed, or such that an item can be solved without understanding anything.

Options give themselves away by being much the longest, by being there twice, by repeating the leak's words, or by
having no rival that somebody with a misconception would take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.topic import KINDS, MOVES, Item, Option, Script, Topic
from runstore.yaml_file import Place

Finding = tuple[Place, str]
LONGEST_KEY = 1.6
LEAKED_WORDS = 0.4
FEWEST_OPTIONS = 3
SHORTEST_REPEATED = 20
_WORD = re.compile(r"[a-z]{5,}|[가-힣]{2,}")


def findings(topic: Topic) -> Iterator[Finding]:
    """Place and what is expected there, of everything that is wrong."""
    yield from _components(topic)
    yield from _misconceptions(topic)
    yield from _scripts(topic)
    kinds = {item.kind for item in topic.items}
    for kind in KINDS:
        if kind not in kinds:
            yield ("items",), f"at least one {kind} item"
    if len({item.id for item in topic.items}) < len(topic.items):
        yield ("items",), "each item's id once"
    spoken = _spoken(topic)
    for at, item in enumerate(topic.items):
        yield from _item(topic, item, ("items", at))
        for text in (item.ask, *(option.text for tier in item.tiers for option in tier if option.key)):
            if len(text) > SHORTEST_REPEATED and text.casefold() in spoken:
                yield ("items", at), f"words that nobody says in the dialogue, not {text!r}"


def _spoken(topic: Topic) -> str:
    """All that students are told to say and that scripted tutors say."""
    scripts = topic.scripts
    said = [
        *(component.states for component in topic.taught),
        *(misconception.says for misconception in topic.misconceptions),
    ]
    said += [*scripts.contrast.values(), *scripts.wrong.values(), scripts.leak.text, scripts.misaligned.text]
    return "\n".join(said).casefold()


def _components(topic: Topic) -> Iterator[Finding]:
    if len(topic.component) < len(topic.components):
        yield ("components",), "each component's id once"
    for at, component in enumerate(topic.components):
        place: Place = ("components", at)
        if unknown := [name for name in component.needs if name not in topic.component or name == component.id]:
            yield (*place, "needs"), f"components of this topic, not {unknown[0]!r}"
        if component.level != "untouched" and not component.key_phrases:
            yield (*place, "key_phrases"), "phrases by which the component is known when it is said"


def _misconceptions(topic: Topic) -> Iterator[Finding]:
    used = {option.misconception for item in topic.items for tier in item.tiers for option in tier}
    for at, misconception in enumerate(topic.misconceptions):
        place: Place = ("misconceptions", at)
        if misconception.of not in topic.component:
            yield (*place, "of"), f"a component, not {misconception.of!r}"
        if misconception.id not in used:
            yield place, f"an option that {misconception.id!r} leads to"
        if not misconception.cues:
            yield (*place, "cues"), "phrases by which the misconception is known"


def _scripts(topic: Topic) -> Iterator[Finding]:
    scripts = topic.scripts
    for name in [*topic.misconception, *(component.id for component in topic.taught)]:
        if name not in scripts.contrast:
            yield ("scripts", "contrast"), f"words for {name!r}"
    for field, names in (("contrast", scripts.contrast), ("wrong", scripts.wrong)):
        known = {*topic.misconception, *(topic.component if field == "contrast" else ())}
        if unknown := [name for name in names if name not in known]:
            yield ("scripts", field, unknown[0]), f"one of {', '.join(sorted(known))}"
    if not scripts.wrong:
        yield ("scripts", "wrong"), "words that teach a misconception"
    for field, script in (("misaligned", scripts.misaligned), ("leak", scripts.leak)):
        yield from _labels(topic, script, ("scripts", field, "labels"))
    if not topic.answer:
        yield ("scripts", "leak", "labels"), "what the leak tells (component: tell)"
    if set(scripts.misaligned.moves()) & set(topic.transfer):
        yield ("scripts", "misaligned", "labels"), "nothing about the components behind the transfer items"


def _labels(topic: Topic, script: Script, place: Place) -> Iterator[Finding]:
    for component, (move, target) in script.moves().items():
        if component not in topic.component:
            yield (*place, component), "a component of this topic"
        if move not in MOVES or (target is not None and target not in topic.misconception):
            yield (
                (*place, component),
                f"one of {', '.join(MOVES)}, with a misconception after ':' where it has one",
            )


def _item(topic: Topic, item: Item, place: Place) -> Iterator[Finding]:
    if item.kind in ("diagnostic", "transfer") and not item.reasons:
        yield place, f"two tiers (options and reasons) of a {item.kind} item"
    if unknown := [name for name in item.components if name not in topic.component]:
        yield (*place, "components"), f"components of this topic, not {unknown[0]!r}"
        return
    if not item.components:
        yield (*place, "components"), "the components that the item needs"
    levels = {topic.component[name].level for name in item.components}
    if item.kind == "control" and levels != {"untouched"}:
        yield (*place, "components"), "an untouched component: a control item must not move"
    if item.kind != "control" and "untouched" in levels:
        yield (*place, "components"), "components that the question is about"
    for name, tier in zip(("options", "reasons"), item.tiers, strict=False):
        yield from _tier(topic, tier, (*place, name))
    if item.kind == "transfer":
        yield from _transfer(topic, item, place)


def _tier(topic: Topic, tier: tuple[Option, ...], place: Place) -> Iterator[Finding]:
    keys = [option for option in tier if option.key]
    if len(tier) < FEWEST_OPTIONS or len(keys) != 1:
        yield place, f"{FEWEST_OPTIONS} options or more, and one key among them"
        return
    if len({option.text.casefold() for option in tier}) < len(tier):
        yield place, "each option once"
    if unknown := [
        o.misconception for o in tier if o.misconception and o.misconception not in topic.misconception
    ]:
        yield place, f"misconceptions of this topic, not {unknown[0]!r}"
    if keys[0].misconception:
        yield place, "a key that no misconception leads to"
    longest = max(len(option.text) for option in tier if not option.key)
    if len(keys[0].text) > LONGEST_KEY * longest:
        yield place, "a key that is not much the longest option"


def _transfer(topic: Topic, item: Item, place: Place) -> Iterator[Finding]:
    if not any(option.misconception for option in item.options):
        yield (*place, "options"), "a rival that a misconception leads to"
    keys = _words(" ".join(option.text for tier in item.tiers for option in tier if option.key))
    shared = keys & _words(topic.scripts.leak.text)
    if keys and len(shared) > LEAKED_WORDS * len(keys):
        yield place, f"a key in other words than the leak's ({', '.join(sorted(shared))})"


def _words(text: str) -> set[str]:
    """Long English words, and the beginnings of Korean ones (their endings change)."""
    return {word if word.isascii() else word[:2] for word in _WORD.findall(text.casefold())}
