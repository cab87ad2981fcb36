"""The words of the score report, in English and Korean."""

from __future__ import annotations

from dataclasses import dataclass

from runstore.records import Language

WORDS: dict[str, tuple[str, str]] = {
    "judges": ("Judges", "심판"),
    "judge": ("judge", "심판"),
    "sheets": ("sheets", "채점표"),
    "no_reply": ("no reply", "응답 없음"),
    "values": ("values", "값"),
    "asked_again": ("asked again", "다시 물음"),
    "quotes": ("quotations found", "찾은 인용"),
    "steady": ("same in all repeats", "반복마다 같음"),
    "readable": ("{n} of {of} readable", "{of}개 중 {n}개 읽음"),
    "of": ("{n} of {of}", "{n} / {of}"),
    "none": ("none", "없음"),
    "scores": ("Scores", "점수"),
    "scores_by": ("Scores by {column}", "{column}별 점수"),
    "blank": ("(blank)", "(빈칸)"),
    "means": (
        "Means, each with how many of how many subjects have that score. Floors are applied.",
        "평균. 괄호 안은 점수가 있는 대상 / 전체 대상. 최저점 규칙을 적용한 값.",
    ),
    "groups": ("{column}: {first} and {second} ({judge})", "{column}: {first}, {second} ({judge})"),
    "scored": (
        "{first}: {a} of {b} scored; {second}: {c} of {d} scored. Holm's correction is over the items.",
        "{first}: {b}개 중 {a}개 채점, {second}: {d}개 중 {c}개 채점. Holm 보정은 항목들에 대한 것.",
    ),
    "flattering": (
        "Some subjects have no total: the means leave them out and may flatter a group.",
        "총점이 없는 대상이 있음: 평균에서 빠지므로 한쪽이 좋아 보일 수 있음.",
    ),
    "common": (
        "On the {pairs} values of {column} scored in both groups: {test}, {p}.",
        "두 집단 모두 채점된 {column} 값 {pairs}개에서: {test}, {p}.",
    ),
    "measure": ("measure", "측정"),
    "difference": ("difference", "차이"),
    "agreement": ("Agreement between judges", "심판 간 일치도"),
    "all_in_file": (
        "All statistics, pairs of judges and single elements are in agreement.json.",
        "모든 통계량, 심판 쌍, 개별 요소는 agreement.json에 있음.",
    ),
    "not_estimable": ("not estimable: {reason}", "추정 불가: {reason}"),
    "elements": ("Elements", "요소"),
    "element": ("element", "요소"),
    "heat": (
        "Share of subjects where the element is met (or the mean on its scale), and out of how many.",
        "요소를 충족한 대상의 비율(척도는 평균)과 그 대상 수.",
    ),
    "against": ("Judge against judge, total", "심판 대 심판, 총점"),
    "plots": (
        "Left: both totals, equal on the dashed line. Right: their difference, its bias and its 95 % limits.",
        "왼쪽: 두 심판의 총점(점선에서 같음). 오른쪽: 차이와 편향, 차이의 95 %가 드는 한계.",
    ),
    "apart": ("Where judges are furthest apart", "심판이 가장 크게 갈린 곳"),
    "subject": ("subject", "대상"),
    "totals": ("totals", "총점"),
    "differing": ("values that differ", "갈린 값"),
    "more": ("and {n} more", "외 {n}개"),
    "without_reply": ("{n} without a reply", "응답 없음 {n}"),
    "unreadable": ("{n} unreadable", "읽지 못함 {n}"),
    "missing": ("{n} of {of} values missing", "값 {of}개 중 {n}개 빠짐"),
    "not_asked": ("{n} not asked, the run was stopped", "중단되어 요청하지 않음 {n}"),
    "asked": ("{judge}: {n} sheets wanted, {what}.", "{judge}: 채점표 {n}개 중 {what}."),
    "lost": (
        "{n} of {of} totals are missing; means are over what is there and say how much.",
        "총점 {of}개 중 {n}개가 없음. 평균은 있는 값만의 평균이며 그 수를 함께 적음.",
    ),
    "undecided": (
        "In {n} of {of} rows the sheets do not say whether the floor rule applies.",
        "{of}행 중 {n}행은 최저점 규칙을 적용할지 채점표에 적혀 있지 않음.",
    ),
    "small": (
        "Scores by {judges} come from a very small model: a demonstration, not evidence.",
        "{judges}의 점수는 아주 작은 모델이 매긴 것으로, 시연일 뿐 증거가 아님.",
    ),
    "provenance": (
        "{subjects} subjects of {source}; rubric {rubric}; judges {judges}, {repeats} sheets each.",
        "대상 {subjects}개({source}), 채점표 {rubric}, 심판 {judges}, 각 {repeats}회.",
    ),
}


@dataclass(frozen=True, slots=True)
class Say:
    """The words of one language: ``say("judges")``, ``say("more", n=3)``."""

    language: Language = "en"

    def __call__(self, key: str, **values: object) -> str:
        text = WORDS[key][0 if self.language == "en" else 1]
        return text.format(**values) if values else text
