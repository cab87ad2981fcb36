"""Reports, pages and consoles in Korean are Korean throughout: no English word but what models and people said."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from arena.agent_runs.columns import KNOWN_NAMES
from arena.human.folder import StudyFolder
from arena.human.ratings import ANSWERS
from arena.human.studies import FOLDER
from arena.rubrics.rubric import load_rubric
from frontdesk.cli import main
from frontdesk.report.sentences import spoken
from frontdesk.runner.shortfall import Shortfall
from frontdesk.runner.told import speak, told
from frontdesk.web.store import Store
from runstore.korean import particle
from runstore.languages import Words, words
from seed_questions import load
from seed_questions.banks import bank_names, path_of_bank
from tests.frontdesk.test_another_language import Visible
from tests.support.agent_runs_table import rows, table_text
from tests.support.fake_provider import FakeProvider
from tests.support.human_site import links, planned, running, walk
from tests.support.korean import TYPED, data_of, english, names_of, said_in, shown, strings
from tests.support.scoring_command import prepared
from tests.support.small_runs import write_config
from tests.support.student_runs import write_student_config
from tests.support.student_world import provider_script

ROOT = Path(__file__).resolve().parents[2]
_GIVEN = frozenset(["main", "job", "scored", "criteria"])
"""Names that the tests gave, and the prompts' own."""


@pytest.mark.parametrize(
    "judge",
    [{}, {"endpoints": ["gemini", "ureka"]}, {"criteria": ["understanding", "language"], "one_by_one": True}],
    ids=["one judge", "two judges", "criteria one by one"],
)
def test_a_run_with_its_report_its_site_and_its_quality(
    provider: FakeProvider, tmp_path: Path, judge: dict[str, Any]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8, **judge)
    config.write_text(config.read_text().replace("[run]\n", '[run]\nlanguage = "ko"\n'))
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert main(["quality", "--run", str(run)]) in (0, 1)
    assert main(["report", "--run", str(run), "--site", str(tmp_path / "site")]) == 0
    data, names = data_of(run), names_of(run) | _GIVEN
    for path in (*(run / name for name in ("report.html", "report.md", "leaderboard.md", "quality.md")),
                 tmp_path / "site" / "index.html"):  # fmt: skip
        assert english(shown(path), data, names) == [], path.name
    for page in (run / "report.html", tmp_path / "site" / "page.css"):
        assert "word-break: keep-all" in page.read_text("utf-8")
    index = (tmp_path / "site" / "data" / "index.js").read_text("utf-8")
    assert '"called":["높음","낮음"]' in index.replace(" ", "")
    report = (run / "report.md").read_text("utf-8")
    assert "페르소나별: 목표 몰입" in report
    assert ("소크라테스식 질문" in report) == ("one_by_one" in judge)


def _asked(
    commands: Sequence[Sequence[str]], capsys: pytest.CaptureFixture[str]
) -> Iterator[tuple[str, list[str]]]:
    """What each command prints on either stream when it is asked in Korean."""
    for command in commands:
        capsys.readouterr()
        main([*command, "--language", "ko"])
        printed = capsys.readouterr()
        yield " ".join(command[:2]), [*printed.out.splitlines(), *printed.err.splitlines()]


def test_every_command_on_a_run_prints_korean(
    provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8)
    run, other = str(tmp_path / "run"), str(tmp_path / "other")
    seen = dict(_asked([["run", str(config), "--run", run], ["quality", run]], capsys))
    shutil.copytree(run, other)
    names = names_of(tmp_path) | _GIVEN | {"run", "other", "chats", "phrases"}
    commands: list[list[str]] = [
        ["check", str(config), "--offline"], ["estimate", str(config)], ["run", str(config), "--dry-run"],
        ["simulate", run], ["cut", run], ["collect", run], ["judge", run], ["report", run],
        ["runs", str(tmp_path), "--cost"], ["calls", run], ["compare", run, other, "--out", str(tmp_path / "c")],
        ["sensitivity", run, other, "--judges"], ["rate", "--run", run, "--check"], ["power", "--run", run],
        ["verify", run], ["export", run, "--as", "openai"], ["refresh", run, "--rejudge", "ureka", "--dry-run"],
        ["calls", "--repair", run], ["refresh", run, "--rejudge", "ureka"],
    ]  # fmt: skip
    for command, lines in (*seen.items(), *_asked(commands, capsys)):
        assert any("가" <= letter <= "힣" for line in lines for letter in line), command
        assert english([line.replace(str(tmp_path), "/t") for line in lines], data_of(Path(run)), names) == [], (
            command
        )
    assert english(shown(tmp_path / "c" / "compare.html"), data_of(Path(run)), names) == []


def test_every_command_without_a_run_prints_korean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = str(tmp_path / "study")
    commands = [
        ["init", str(tmp_path / "a.toml")], ["personas"], ["personas", "--factors", "school-students"],
        ["personas", "--check"], ["questions"], ["questions", "--bank", "school-mathematics"],
        ["power", "--win-rate", "0.6", "--calls", "400", "--matches", "90"],
        ["power", "--difference", "0.4", "--residual-sd", "1", "--items", "30", "--raters", "3"],
        ["power", "--correlation", "0.7", "--items", "60"],
        ["human", "init", study], ["human", "plan", f"{study}/study.toml", "--out", f"{study}/plan"],
        ["human", "forms", f"{study}/plan"], ["human", "sessions", f"{study}/plan", "--out", f"{study}/in.jsonl"],
        ["human", "purge", f"{study}/plan", "--persons"],
    ]  # fmt: skip
    asked = [each.text for bank in bank_names() for each in load(path_of_bank(bank), "ko")]
    names = _STUDIED | {word for text in asked for word in re.findall("[A-Za-z]+", text)}
    for command, lines in _asked(commands, capsys):
        assert any("가" <= letter <= "힣" for line in lines for letter in line), command
        assert english([line.replace(str(tmp_path), "/t") for line in lines], "", names) == [], command


_STUDIED = frozenset(["expert", "lay", "high", "low", "medium", "gemini", "ureka", "FOLDER", "forms", "English"])
"""Groups, strata and endpoints of the shipped examples, as their files call them."""


def test_what_fails_is_told_in_korean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.toml").write_text("[judge]\nrounds = 0\nwhat = 1\n")
    (tmp_path / "bad.csv").write_text("item,rater,value\na,b,\xe4\n", "latin-1")
    missing = str(tmp_path / "missing.toml")
    commands = [
        ["run", missing], ["check", str(tmp_path / "bad.toml")], ["report", missing], ["runs", missing], ["rate"],
        ["agree", "--ratings", missing, "--out", str(tmp_path)], ["power"], ["personas", "nobody"], ["score"],
        ["agree", "--ratings", str(tmp_path / "bad.csv"), "--out", str(tmp_path)], ["questions", "--subject", "x"],
        ["human", "serve", missing], ["export", missing, "--as", "hf"], ["refresh", missing], ["reprot"],
        ["run", "--x"], ["human", "plna"], ["score", "--inptu", "x"], ["run", "c.toml", "--livee"],
    ]  # fmt: skip
    for command, lines in _asked(commands, capsys):
        said = [line for line in lines if not re.match(r"(쓰는 법| {8,})", line)]
        assert any("가" <= letter <= "힣" for line in said for letter in line), command
        names = {each.subject for bank in bank_names() for each in load(path_of_bank(bank), "ko")}
        assert english([line.replace(str(tmp_path), "/t") for line in said], "", names) == [], command


def test_the_demonstration_speaks_korean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says before it begins, and without its weights; its stages are those of every run."""
    for name, value in (("TUTOR_ARENA_CACHE", str(tmp_path / "cache")), ("PIP_NO_INDEX", "1"),
                        ("PIP_FIND_LINKS", str(tmp_path)), ("PIP_CONFIG_FILE", os.devnull)):  # fmt: skip
        monkeypatch.setenv(name, value)
    ((command, lines),) = _asked([["demo", "--run", str(tmp_path / "run")]], capsys)
    said = [line.partition("pip의 말:")[0] for line in lines]  # what the installer says is not ours
    assert any("가" <= letter <= "힣" for line in said for letter in line), command
    assert (
        english([line.replace(str(tmp_path), "/t") for line in said], "", {"socratic", "plain", "pip", "download"})
        == []
    )


_ROOMS = (
    "arena", "frontdesk", "gateway", "knowledge", "personas", "runstore", "seed_questions", "simulator",
    "tutor_arena",
)  # fmt: skip


@pytest.mark.parametrize("room", _ROOMS)
def test_every_refusal_has_its_korean(room: str) -> None:
    """A new sentence of a Problem belongs into frontdesk/runner/words/problems.LANGUAGE.yaml."""
    speak("ko")
    try:
        lacking = {
            sentence
            for path in (ROOT / room).rglob("*.py")
            for sentence in said_in(path, raised=True)
            if len(re.findall(r"[A-Za-z]{2,}", sentence)) >= 2
            and " " in sentence
            and english([told(sentence)], "", TYPED)
        }
    finally:
        speak(None)
    assert lacking == set()


def test_the_students_side(provider: FakeProvider, tmp_path: Path) -> None:
    provider.script = provider_script("ko")
    config = write_student_config(tmp_path / "c.toml", provider, ["first", "second"], dialogues=2, subsets=4)
    config.write_text(config.read_text().replace("[run]\n", '[run]\nlanguage = "ko"\n'))
    question = (
        '{id: dijkstra-negative-edges, text: {ko: "음수 간선이 있으면 데이크스트라의 어느 단계가 틀리나요?"}}'
    )
    (tmp_path / "q.yaml").write_text(f"- {question}\n", encoding="utf-8")
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) in (0, 1)
    names = names_of(run) | _GIVEN | {"side", "moves"}
    for name in ("report.html", "report.md"):
        assert "학생 쪽에서 본 결과" in (run / name).read_text("utf-8")
        assert english(shown(run / name), data_of(run), names) == [], name


def test_scores_by_three_judges(provider: FakeProvider, tmp_path: Path) -> None:
    command = prepared(tmp_path, provider, 6)
    out = tmp_path / "scored"
    done = subprocess.run([*command, "--language", "ko", "--out", str(out)], capture_output=True, check=False,
                          env={**os.environ, "A_KEY": "k-0123456789"})  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    for name in ("score.html", "score.md"):
        assert english(shown(out / name), data_of(out, tmp_path), names_of(out) | _SESSIONS) == [], name


_SESSIONS = frozenset(["agent", "freepass", "gemini", "gpt", "claude", "mode", "scored", "in"])
"""Groups and judges that the prepared sessions name."""


def test_scores_of_a_rubric_without_labels_and_floors(tmp_path: Path) -> None:
    items = [item.key for item in load_rubric("meeting_minutes").items]
    reply = json.dumps({key: {"score": 3, "rationale": "근거"} for key in items})
    (tmp_path / "j.jsonl").write_text(json.dumps({"reply": reply}))
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "m1", "question": "회의 기록", "answer": "회의록"}))
    (tmp_path / "c.toml").write_text(
        f'[run]\nlanguage = "ko"\n[endpoints.j]\nkind = "scripted"\nreplies = {str(tmp_path / "j.jsonl")!r}\n'
    )
    files = ["--input", str(tmp_path / "in.jsonl"), "--config", str(tmp_path / "c.toml"), "--judge", "j"]
    assert main(["score", *files, "--rubric", "meeting_minutes", "--out", str(tmp_path / "out")]) == 0
    report = (tmp_path / "out" / "score.md").read_text("utf-8")
    assert english(shown(tmp_path / "out" / "score.md"), "") == []
    assert "사실성" in report
    assert "factuality" not in report
    assert "최저점" not in report
    assert "minutes" not in re.sub(r"meeting.{0,2}minutes", "", report)


@pytest.mark.parametrize(
    "values", ["111", "123", "1-3", "---"], ids=["all alike", "spread", "with a gap", "nothing at all"]
)
def test_agreement_of_any_table(tmp_path: Path, values: str) -> None:
    lines = [f"i{item},r{rater},{'' if value == '-' else int(value) + (item * rater) % 2 * (values == '123')}"
             for item in range(4) for rater, value in enumerate(values)]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(["item,rater,value", *lines, ""]))
    for level in ("interval", "ordinal", "nominal"):
        command = ["agree", "--ratings", str(tmp_path / "t.csv"), "--level", level, "--language", "ko"]
        assert main([*command, "--out", str(tmp_path / level)]) in (0, 2)
        report = tmp_path / level / "agreement.md"
        assert not report.exists() or english(shown(report)) == []


def test_ratings_of_battles(tmp_path: Path) -> None:
    battles = ["model_a,model_b,winner", "m1,m2,model_a", "m1,m2,model_a", "m2,m3,tie", "m4,m5,model_b"]
    (tmp_path / "b.csv").write_text("\n".join([*battles, ""]))
    for ties in ("half", "davidson"):
        out = tmp_path / ties
        command = ["rate", "--battles", str(tmp_path / "b.csv"), "--ties", ties, "--language", "ko"]
        assert main([*command, "--out", str(out)]) in (0, 1)
        assert english(shown(out / "leaderboard.md"), "", {"davidson"}) == []


def test_agent_runs(tmp_path: Path) -> None:
    (tmp_path / "url_agent_1.csv").write_bytes(table_text(rows()).encode("utf-8-sig"))
    assert main(["agent-runs", str(tmp_path / "url_agent_1.csv"), "--out", str(tmp_path / "out")]) == 1
    for name in ("agent_runs.md", "agent_runs.html"):
        names = {"url", "agent", *_TEMPLATE, *re.findall("[A-Za-z]+", table_text(rows()))}
        assert english(shown(tmp_path / "out" / name), data_of(tmp_path), names) == [], name


_TEMPLATE = ("appendix", "pass", "fail", "query")
"""English words of the scoring document's own Korean template."""


async def test_a_study_in_its_own_language(tmp_path: Path) -> None:
    text = (FOLDER / "document_review.toml").read_text("utf-8").replace('["ko", "en"]', '["ko"]')
    folder = planned(tmp_path, text=text)
    study = tomllib.loads(text)
    own = [part for part in strings(study) if re.search("[가-힣]", part)] + [*strings(study["conditions"])]
    names = names_of(tmp_path) | _STUDIED | {word for part in own for word in re.findall("[A-Za-z]+", part)}
    data = data_of(tmp_path)
    with running(folder) as (root, store):
        async with aiohttp.ClientSession() as session:
            for name in ("lay-01", "lay-02", "expert-01"):
                for body in await walk(session, links(store, root)[name]):
                    parser = Visible()
                    parser.feed(body.decode())
                    assert english(parser.texts, data, names) == []
                    assert "keep-all" in (ROOT / "frontdesk/web/static/form.css").read_text("utf-8")
            async with session.get(f"{root}/o/{store.persons.secret('organiser')}") as answer:
                parser = Visible()
                parser.feed(await answer.text())
                assert english(parser.texts, data, names) == []
    assert main(["human", "analyze", str(folder.path)]) == 1
    for name in ("analysis.md", "analysis.html"):
        assert english(shown(folder.path / name), data, names) == [], name
        assert 'lang="ko"' in (folder.path / "analysis.html").read_text("utf-8")


def _returned(folder: Path) -> str:
    """Forms of two raters as they come back from paper: as CP949, with semicolons, two of them no answers."""
    raters = ("lay-01", "expert_law-01")
    rows = [f"{row.rater};{row.position};{name};{value}" for row in StudyFolder(folder).rows()
            if row.rater in raters for name, value in (("U1", "5"), ("E1", "４"))
            if name[0] == ("U" if row.group == "lay" else "E")]  # fmt: skip
    return "\n".join(["평가자;순서;문항;값", *rows, "lay-01;1;U1;2", "lay-01;2;U2;아주", ""])


def test_every_command_on_a_study_with_roles_both_conditions_and_themes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = shutil.copytree(ROOT / "docs" / "examples" / "document-review", tmp_path / "s")
    text = (place / "study.toml").read_text("utf-8")
    before, lay, after = text.partition("[groups.lay]")
    (place / "study.toml").write_text(
        before + lay + after.replace("items = 5", "items = 10\nboth_conditions = true", 1), "utf-8"
    )
    plan = str(place / "plan")
    seen = dict(_asked([["human", "plan", str(place / "study.toml"), "--out", plan]], capsys))
    (place / "came.csv").write_bytes(_returned(Path(plan)).encode("cp949"))
    scores = [f"{name},{condition},judge,{at % 7}" for at, name in enumerate(
        StudyFolder(Path(plan)).documents()) for condition in "AB"]  # fmt: skip
    (place / "scores.csv").write_text("\n".join(["document,condition,judge,total", *scores, ""]))
    store = Store(StudyFolder(Path(plan)))
    code = next(code for rater, _, code in store.links() if rater == "lay-02")
    store.close()
    commands = [
        ["human", "forms", plan], ["human", "import", plan, str(place / "came.csv")],
        ["human", "sessions", plan, "--out", str(place / "in.jsonl")],
        ["human", "replace", plan, "--rater", "lay-03"], ["human", "replace", plan, "--rater", "lay-03"],
        ["human", "replace", plan, "--rater", "lay-99"],
        ["human", "analyze", plan, "--scores", str(place / "scores.csv")],
        ["human", "withdraw", plan, code], ["human", "withdraw", plan, code],
        ["human", "themes", str(place / "coded.csv"), "--out", str(place / "themes")],
        ["human", "purge", plan], ["human", "purge", plan, "--early"],
    ]  # fmt: skip
    own = [part for part in strings(tomllib.loads(text)) if not re.search(r"^[A-Za-z][a-z]+ [a-z]", part)]
    names = (
        _STUDIED
        | names_of(tmp_path)
        | {word for part in own for word in re.findall("[A-Za-z]+", part)}
        | {"came", "html", "tex", *ANSWERS.names}
    )
    data = data_of(tmp_path)
    pages = [place / "plan" / name for name in ("analysis.md", "analysis.html")]
    for command, lines in (*seen.items(), *_asked(commands, capsys)):
        assert any("가" <= letter <= "힣" for line in lines for letter in line), command
        assert english([line.replace(str(tmp_path), "/t") for line in lines], data, names) == [], command
        if command == "human analyze":
            for path in pages:
                assert english(shown(path), data, names) == [], path.name
    assert english(shown(place / "themes" / "themes.md"), data, names) == []


_TOLD = {text.partition("_")[2] for text in words("frontdesk.report", "agent_runs", "en").texts} | {
    name for names in KNOWN_NAMES.values() for name in names
}
"""What the reports of agent runs say by keys of their own (``basis_wrong key``), and the table's columns."""
_NO_RESULTS = {"table.py", "battles.py", "reading.py", "study.py", "ratings.py", "returned.py", "certificate.py",
               "phrases.py", "values.py", "text.py", "escapes.py", "objects.py", "verdicts.py",
               "inspect_logs.py", "neighbours.py", "withdrawn.py"}  # fmt: skip


@pytest.mark.parametrize(
    "room", ["agreement", "ratings", "judges", "human", "reading", "realism", "scoring", "agent_runs"]
)
def test_every_sentence_of_a_result_has_its_korean(room: str) -> None:
    """A new name, reason or remark of the mathematics belongs into words/sentences.LANGUAGE.yaml."""
    folder = ROOT / "simulator" / "realism" if room == "realism" else ROOT / "arena" / room
    lacking = {
        sentence
        for path in folder.rglob("*.py")
        if path.name not in _NO_RESULTS
        for sentence in said_in(path)
        if len(re.findall(r"[A-Za-z]{2,}", sentence)) >= 2
        and " " in sentence
        and not re.search(
            r"\[str|\[Any|\\|one of 7|columns found|and 7 \(col|\(or a dialogue|first on line|header 7"
            r"|^quality sample$",
            sentence,
        )
        and sentence not in _TOLD
        and english([spoken(sentence, "ko")], "", TYPED)
    }
    assert lacking - _PARTS == set()


@pytest.mark.parametrize("criteria", [1, 3])
@pytest.mark.parametrize(("invalid", "why"), [(2, {"rate_limited": 3}), (2, {}), (0, {"timeout": 1}), (0, {})])
def test_what_a_run_lacks_is_told_in_korean(criteria: int, invalid: int, why: dict[str, int]) -> None:
    note = Shortfall(valid=6, asked=20, criteria=criteria, invalid=invalid, why=why).note
    assert english([spoken(note, "ko")], "") == []
    assert spoken(note, "ko") != note


def test_a_sentence_behind_a_stages_name_is_told_whole() -> None:
    """An ``and`` within it makes it no sentence about two places."""
    said = (
        "the questions are your own, and the students are still the shipped ones, of computer science: "
        "[personas] factors or file names others"
    )
    speak("ko")
    try:
        assert told(f"simulate: {said}") == f"simulate: {told(said)}" != f"simulate: {said}"
        assert told("no match of 갑 and 을: a reply is missing") == "갑과 을의 경기 없음: 답변이 빠졌습니다"
    finally:
        speak("en")


_PARTS = {
    "7 of 7 7 hold what moves it, so it reaches from -1 to 1",
    "from 7 7 it reaches from -1 to 1",
    "; 7",
    " where ratings are missing",
    " where ratings can't be normal",
    ", with a prior of 7 even games against an average opponent",
    ", adjusted for the order of showing",
    ", so no 7 limit",
    " in 7 groups",
    "<no end>",
    "a 7 table like 7",
    "above every other",
    "average of k = 7 ratings an item",
    "average of k = 7 raters",
    "below every other",
    "blank cells",
    "dealt both",
    "first wins",
    "first with 7",
    "log2 of 7",
    "no interval: a single ",
    "normal approximation, ties corrected, 7 continuity correction",
    "not applicable",
    "own family",
    "own family of 7",
    "second wins",
    "single rater",
    "the required 7 ",
}
"""Ends of sentences whose wholes are known."""


@pytest.mark.parametrize(
    ("word", "subject", "topic", "toward"),
    [
        ("서울", "이", "은", "로"),
        ("심판", "이", "은", "으로"),
        ("튜터", "가", "는", "로"),
        ("gemini", "가", "는", "로"),
        ("GPT", "가", "는", "로"),
        ("LLM", "이", "은", "으로"),
        ("baseline", "이", "은", "으로"),
        ("simple", "이", "은", "로"),
        ("bot", "이", "은", "으로"),
        ("test", "가", "는", "로"),
        ("tutor-v2", "가", "는", "로"),
        ("tutor-v3", "이", "은", "으로"),
        ("2.0", "이", "은", "으로"),
        ("7", "이", "은", "로"),
        ("'심판'", "이", "은", "으로"),
        ("「튜터」", "가", "는", "로"),
        ("심판(둘)", "이", "은", "으로"),
        ("50%", "가", "는", "로"),
    ],
)
def test_a_particle_follows_the_last_sound(word: str, subject: str, topic: str, toward: str) -> None:
    assert (particle(word, "이(가)"), particle(word, "은(는)"), particle(word, "(으)로")) == (
        subject,
        topic,
        toward,
    )


def test_particles_are_chosen_after_what_was_filled_in_and_never_inside_it() -> None:
    say = Words("ko", {"t": "{a}와(과) '{b}'이(가) {n}(으)로, {a}을(를)"})
    assert say("t", a="gemini", b="은(는)심판", n=3) == "gemini와 '은(는)심판'이 3으로, gemini를"
