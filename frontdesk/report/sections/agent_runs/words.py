"""The words of the agent-run report, in Korean and English. The outline is the scoring document's own."""

from __future__ import annotations

from typing import Literal

Language = Literal["ko", "en"]

WORDS: dict[str, tuple[str, str]] = {
    "title": ("이동 에이전트 스코어링 요약", "Navigation agent scoring summary"),
    "data": ("데이터", "Data"),
    "total": ("총 항목", "Items in all"),
    "runs": ("실행", "Runs"),
    "checks": ("점검", "Checks"),
    "criteria": ("산출 기준", "How it is scored"),
    "figures": ("지표별 점수", "Figures"),
    "intent": ("의도 충족", "Intent"),
    "consistency": ("일관성", "Consistency"),
    "accuracy": ("정확성", "Accuracy"),
    "speed": ("응답 속도(단일)", "Response speed (single tool)"),
    "stability": ("안정성", "Stability"),
    "success": ("성공한 질의", "Questions that succeed"),
    "seconds": ("응답 시간(초)", "Response time (s)"),
    "risks": ("리스크/개선", "Risks and improvements"),
    "appendix": ("원본 판정 테이블 (appendix)", "Per-item judgments (appendix)"),
    "comparison": ("전후 비교", "Before and after"),
    "round_n": ("{n}회차", "Round {n}"),
    "set": ("세트", "Set"),
    "round": ("회차", "Round"),
    "rate": ("성공률", "Success rate"),
    "ok": ("성공", "Success"),
    "fail": ("실패", "Failure"),
    "item_mean": ("문항 평균", "Item mean"),
    "by_key": ("정확성: 기대결과(F) dataKey 우선 매칭", "Accuracy: the expected result's dataKey first"),
    "by_key_two": ("5/0 이원화", "two levels, 5 and 0"),
    "by_key_three": ("5/3/0 (같은 경로의 다른 dataKey는 3)", "5/3/0 (another dataKey on the same path is 3)"),
    "matched_by": ("회차 매칭 키: Query ID", "Rounds matched by: Query ID"),
    "stable_by": ("안정성: 오류/Raw error 기준", "Stability: the error cell and Raw JSON's error"),
    "speed_by": ("속도: 단일 도구(responseTimeSec)", "Speed: single tool (responseTimeSec)"),
    "no_sum": ("지표는 하나로 합산하지 않음", "The figures are never summed into one"),
    "basis": ("기준", "Basis"),
    "origin_csv": ("CSV의 LLM 점수", "the table's LLM score"),
    "origin_judge": ("평가 모델", "a judge endpoint"),
    "origin_heuristic": ("휴리스틱", "the heuristic"),
    "origin_missing": ("점수 없음", "no score"),
    "three_ways": ("둘 다 정답 / 둘 다 실패 / 불일치", "Both right / both wrong / differ"),
    "agreement_rate": ("일치율", "Agreement rate"),
    "score": ("점수", "Score"),
    "pairs": ("회차 쌍", "Pairs of rounds"),
    "queries": ("질의", "Questions"),
    "both_ok": ("둘 다 정답", "Both right"),
    "both_fail": ("둘 다 실패", "Both wrong"),
    "only": ("{name}만 정답", "Only {name} right"),
    "unmatched": ("짝이 맞지 않는 질의", "Questions not in every round"),
    "not_estimable": ("산출 불가", "not estimable"),
    "needs_two": ("두 회차에서 채점된 질의가 없음", "no question was scored in two rounds"),
    "mean_by_round": ("회차별 평균 초/점수", "Mean seconds and score by round"),
    "sec": ("초", " s"),
    "distribution": ("분포", "Distribution"),
    "points": ("점", " points"),
    "missing_time": ("측정값 없음", "no time"),
    "normal": ("정상(문항 수)", "Fine (items)"),
    "abnormal": ("에러/타임아웃(문항 수)", "Error or timeout (items)"),
    "causes": ("안정성 실패 상위 원인", "Commonest causes of instability"),
    "by_path": ("URL 추출·매칭 실패 패턴(메뉴 경로)", "Failures by menu path"),
    "differing": ("동일 query 반복 불일치", "Questions whose rounds differ"),
    "slowest": ("속도 상위 이상치", "Slowest answers"),
    "patterns": ("트랙·카테고리별 실패 상위 패턴", "Commonest failures by track and category"),
    "none": ("없음", "none"),
    "no_name": ("(없음)", "(none)"),
    "no_url": ("URL 없음", "no URL"),
    "of": ("{n}/{m}", "{n} of {m}"),
    "see_items": ("전체 {n}행은 items.csv 참고 (여기는 {m}행)", "All {n} rows are in items.csv ({m} shown here)"),
    "row": ("행", "Row"),
    "category": ("카테고리", "Category"),
    "track": ("트랙", "Track"),
    "path": ("경로", "Path"),
    "reason": ("사유", "Reason"),
    "items": ("문항", "Items"),
    "share": ("비율", "Share"),
    "speed_short": ("속도", "Speed"),
    "failed_checks": (
        "점검 {n}건이 기준을 넘었습니다. 아래 수치는 점검 항목을 먼저 확인한 뒤 보십시오.",
        "{n} checks are above their limits: look at them before the figures below.",
    ),
    "plain_form": (
        "Raw JSON·기대결과·회차 열이 없는 표: 정확성·속도·안정성·일관성은 해당 없음",
        "A table without Raw JSON, expectation and repeat: accuracy, speed, stability, consistency do not apply",
    ),
    "passed": ("통과", "passed"),
    "not_passed": ("기준 초과", "above its limit"),
    "noted": ("참고", "note"),
    "limit": ("한도", "limit"),
    "before": ("전", "Before"),
    "after": ("후", "After"),
    "difference": ("차이", "Difference"),
    "test": ("검정", "Test"),
    "gained": ("새로 성공", "Newly right"),
    "lost": ("새로 실패", "Newly wrong"),
    "figure": ("지표", "Figure"),
    "speed_distribution": ("속도 점수 분포", "Distribution of speed scores"),
    "round_matrix": ("회차 × 회차", "Round against round"),
    "any_of_k": ("k회 중 한 번 이상 성공 (pass@k)", "At least one of k rounds succeeds (pass@k)"),
    "all_of_k": ("k회 모두 성공 (pass^k)", "All of k rounds succeed (pass^k)"),
    "check_items_per_round": ("회차별 문항 수가 동일함", "Same number of items in every round"),
    "check_query_ids_matched": ("회차 사이에 짝이 없는 Query ID", "Query IDs that are not in every round"),
    "check_rows_without_query_id": ("Query ID가 빈 행", "Rows without a Query ID"),
    "check_raw_json_failures": ("Raw JSON 파싱 실패", "Raw JSON that can't be read"),
    "check_missing_llm_scores": ("유효한 LLM 점수 누락", "No valid LLM score in the table"),
    "check_duplicates": ("같은 회차의 중복 행(집계에서 제외)", "Duplicates within a round (not counted)"),
    "check_malformed_rows": ("열 수가 맞지 않아 읽지 못한 행", "Rows with a wrong number of cells (not read)"),
    "check_judge_failures": ("평가 모델이 점수를 주지 못한 문항", "Items the judge gave no score for"),
    "check_empty_responses": ("빈 응답", "Empty responses"),
    "check_raw_json_encoded_twice": ("두 번 인코딩된 Raw JSON(해석함)", "Raw JSON encoded twice (decoded)"),
    "check_raw_json_cut_by_spreadsheet": (
        "스프레드시트 한도 32,767자에서 잘린 Raw JSON",
        "Raw JSON cut off at a spreadsheet's 32,767 characters",
    ),
    "check_rounds_look_like_dates": (
        "날짜처럼 보이는 회차 값(스프레드시트가 1/1을 날짜로 바꾼 것일 수 있음)",
        "Rounds that look like dates (a spreadsheet may have turned 1/1 into one)",
    ),
    "check_single_round": ("회차가 하나뿐이라 일관성을 산출할 수 없음", "Only one round: no consistency"),
    "basis_key": ("dataKey 일치", "key matches"),
    "basis_path": ("경로 일치", "path matches"),
    "basis_other key on the same path": ("같은 경로, 다른 dataKey", "same path, another key"),
    "basis_wrong key": ("dataKey 불일치", "wrong key"),
    "basis_wrong path": ("경로 불일치", "wrong path"),
    "basis_no button URL": ("버튼 URL 없음", "no button URL"),
    "basis_raw JSON unreadable": ("Raw JSON 해석 불가", "raw JSON unreadable"),
    "basis_nothing expected": ("기대결과 없음", "nothing expected"),
    "pass": ("pass", "pass"),
}


class Words:
    """The words of one language: ``words("title")``, ``words("round_n", n=2)``."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._place = 0 if language == "ko" else 1

    def __call__(self, key: str, **values: object) -> str:
        text = WORDS[key][self._place]
        return text.format(**values) if values else text

    def round(self, index: int) -> str:
        return self("round_n", n=index)

    def check(self, name: str) -> str:
        return self(f"check_{name}")

    def basis(self, name: str) -> str:
        return self(f"basis_{name}")
