"""The words of a run's report, in English and Korean."""

from __future__ import annotations

from runstore.records import Language

WORDS: dict[str, tuple[str, str]] = {
    "title": ("Report: {name}", "보고서: {name}"),
    "contents": ("Contents", "차례"),
    "skip": ("Skip to the results", "결과로 건너뛰기"),
    "demonstration": (
        (
            "A small model that runs inside this program judged here ({judges}): such verdicts are a "
            "demonstration, not evidence."
        ),
        "프로그램에 내장된 작은 모델({judges})이 심판한 결과입니다. 이런 판정은 시연일 뿐 근거가 아닙니다.",
    ),
    "incomplete": ("Incomplete: {what}.", "미완료: {what}."),
    "missing_dialogues": (
        "{n} of {of} dialogues are missing or broke off",
        "대화 {of}개 중 {n}개가 없거나 중단됨",
    ),
    "missing_subsets": ("{n} of {of} subsets are missing", "부분 대화 {of}개 중 {n}개가 없음"),
    "missing_replies": ("{n} of {of} replies are missing", "응답 {of}개 중 {n}개가 없음"),
    "missing_rounds": ("{n} of {of} rounds are missing", "판정 라운드 {of}개 중 {n}개가 없음"),
    "unreadable_rounds": ("{n} of {of} rounds were unreadable", "판정 라운드 {of}개 중 {n}개를 읽을 수 없음"),
    "missing_verdicts": ("{n} of {of} matches have no verdict", "경기 {of}개 중 {n}개에 판결이 없음"),
    "invalid_verdicts": ("{n} of {of} matches are invalid", "경기 {of}개 중 {n}개가 무효"),
    "banner_kept": (
        "What is missing, unreadable or invalid is counted beside every table and never as a tie or a loss.",
        "없거나 읽을 수 없거나 무효인 것은 표마다 따로 세며 무승부나 패배로 치지 않습니다.",
    ),
    # sections
    "result": ("Result", "평가 결과"),
    "reliability": ("Reliability of the verdicts", "판결 신뢰도"),
    "leaderboard": ("Leaderboard", "순위표"),
    "matrix": ("Who beats whom", "상호 승률"),
    "judging": ("The judges", "심판"),
    "breakdowns": ("Where they win and lose", "조건별 결과"),
    "examples": ("Example matches", "경기 예시"),
    "dialogues": ("The dialogues", "대화"),
    "missing": ("What is missing", "빠진 것"),
    "cost": ("Cost", "비용"),
    "provenance": ("How this was made", "만든 방법"),
    # common
    "endpoint": ("Endpoint", "엔드포인트"),
    "wins": ("Wins", "승리 횟수"),
    "losses": ("Losses", "패배"),
    "ties": ("Ties", "무승부"),
    "tie": ("Tie", "무승부"),
    "matches": ("Matches", "경기"),
    "share": ("Share", "비율"),
    "count": ("Count", "횟수"),
    "interval": ("{level} interval", "{level} 구간"),
    "invalid": ("Invalid", "무효"),
    "unreadable": ("Unreadable", "판독 불가"),
    "n_of": ("{n} of {of}", "{of} 중 {n}"),
    "unknown": ("unknown", "알 수 없음"),
    "none": ("none", "없음"),
    "pair": ("Pair", "쌍"),
    "win_rate": ("Win rate", "승률"),
    # result
    "headline_two": (
        "{a} won {wins_a} of {of} matches ({share_a}), {b} {wins_b} ({share_b}); ties: {ties} ({share_t}).",
        "경기 {of}개 중 {a} {wins_a}승({share_a}), {b} {wins_b}승({share_b}), 무승부 {ties}({share_t}).",
    ),
    "headline_many": (
        "{name} stands first of {n} endpoints: {wins} wins in {of} matches ({share}).",
        "엔드포인트 {n}개 중 {name}이(가) 1위: 경기 {of}개에서 {wins}승({share}).",
    ),
    "headline_groups": (
        "{n} endpoints in {groups} groups that can't be compared: there is no common ranking.",
        "엔드포인트 {n}개가 서로 비교할 수 없는 {groups}개 집단으로 나뉘어 공통 순위가 없습니다.",
    ),
    "nothing_judged": (
        "No match has a verdict: there is nothing to compare.",
        "판결이 난 경기가 없어 비교할 것이 없습니다.",
    ),
    "apart": (
        "{better} is rated {gap} points above {worse} ({interval} {lower} to {upper}).",
        "{better}의 평점이 {worse}보다 {gap}점 높습니다({interval} {lower} ~ {upper}).",
    ),
    "not_apart": (
        "The gap of {gap} points between {better} and {worse} may be chance ({interval} {lower} to {upper}).",
        "{better}와(과) {worse}의 차이 {gap}점은 우연일 수 있습니다({interval} {lower} ~ {upper}).",
    ),
    "test_p": ("{test}: {p}.", "{test}: {p}."),
    "no_test": ("There is nothing to test: {reason}.", "검정할 것이 없습니다: {reason}."),
    "result_caption": (
        "Of {of} matches with a verdict; {invalid} of {all} matches were invalid and are not in the shares.",
        "판결이 난 경기 {of}개 기준. 전체 {all}개 중 {invalid}개는 무효로 비율에서 제외.",
    ),
    "share_method": (
        (
            "{level} intervals of shares: Wilson, for as many independent matches as the dialogues are worth "
            "(subsets of one dialogue resemble each other)."
        ),
        "비율의 {level} 구간: Wilson 구간. 같은 대화에서 나온 부분 대화끼리 닮으므로 대화 단위 설계 효과를 반영.",
    ),
    "result_caption_whole": (
        "Of {of} matches; every one has a verdict.",
        "경기 {of}개 기준. 모두 판결이 남.",
    ),
    "reliability_caption": (
        "Of {of} verdicts; {asked} rounds a match, {rounds} by each of {judges} judges.",
        "판결 {of}개 기준. 경기마다 {asked}라운드, 심판 {judges}명이 각 {rounds}라운드.",
    ),
    "reliability_caption_one": (
        "Of {of} verdicts; {asked} rounds a match by one judge.",
        "판결 {of}개 기준. 심판 하나가 경기마다 {asked}라운드.",
    ),
    "recorded_failures": ("{n} failures were recorded", "실패 {n}건이 기록됨"),
    "decisive": (
        (
            "Rounds that could no longer change a verdict were not asked, so unanimous and majority are fewer "
            "rounds' agreement than with all rounds."
        ),
        "판결을 바꿀 수 없는 라운드는 묻지 않았으므로 일치 정도는 일부 라운드만 반영합니다.",
    ),
    "unanimous": ("Unanimous", "만장일치"),
    "majority": ("Majority", "다수일치"),
    "how_sure": ("Agreement of the rounds", "라운드 일치"),
    "split": ("Split (all differ)", "서로 불일치"),
    # leaderboard
    "rank": ("Rank", "순위"),
    "places": ("Places", "가능 순위"),
    "rating": ("Rating", "평점"),
    "rating_chart": ("Ratings with {level} intervals", "평점과 {level} 구간"),
    "rating_rounds": ("Rating by rounds", "라운드별 평점"),
    "rounds_caption": (
        "Rating by rounds: the same model fitted to every single round instead of majorities.",
        "라운드별 평점: 다수결 대신 모든 라운드에 같은 모형을 적용한 값.",
    ),
    "method": (
        "Method: {method}. {intervals} Scale: {scale}, mean {mean}.",
        "방법: {method}. {intervals} 척도: {scale}, 평균 {mean}.",
    ),
    "intervals_bootstrap": (
        "{level} intervals by bootstrap over whole {unit}s, {resamples} resamples, seed {seed}.",
        "{level} 구간: {unit} 단위 붓스트랩 {resamples}회, 시드 {seed}.",
    ),
    "intervals_sandwich": (
        "{level} intervals by the sandwich covariance, clustered by {unit}.",
        "{level} 구간: {unit} 단위 군집 샌드위치 공분산.",
    ),
    "intervals_none": ("No intervals were asked for.", "구간은 요청되지 않았습니다."),
    "not_converged": (
        "The fit did not converge: ratings are not final.",
        "추정이 수렴하지 않아 평점은 확정이 아닙니다.",
    ),
    "pairs": ("Pair by pair", "쌍별 결과"),
    "gap": ("Gap in rating", "평점 차이"),
    "p_value": ("p", "p"),
    "p_holm": ("p (Holm)", "p (Holm)"),
    "better": ("First is better", "앞이 나을 확률"),
    "pairs_caption": (
        "Wins, ties and invalid matches of each pair. p: {test}, two-sided; p (Holm): corrected for {n} pairs.",
        "쌍마다 승, 무승부, 무효. p: {test}, 양측. p (Holm): {n}개 쌍에 대해 보정.",
    ),
    "matrix_caption": (
        "The row's win rate against the column, ties as half a win, with the number of matches.",
        "행이 열을 상대로 한 승률(무승부는 절반), 괄호는 경기 수.",
    ),
    "row_beats": ("Row against column", "행 대 열"),
    # judges
    "judge": ("Judge", "심판"),
    "position": ("Position effect", "위치 효과"),
    "position_caption": (
        "Rounds won by the reply shown first, of the rounds that somebody won. 50% is no preference.",
        "승부가 난 라운드 중 먼저 보인 응답이 이긴 비율. 50%면 위치의 영향이 없음.",
    ),
    "position_effect": (
        (
            "Being shown first is worth {log_odds} in log-odds ({interval} {lower} to {upper}; 0 means nothing), "
            "with the endpoints' strengths held fixed."
        ),
        (
            "먼저 보이는 것의 효과는 로그 오즈 {log_odds}({interval} {lower} ~ {upper}, 0이면 효과 없음)이며 "
            "엔드포인트의 실력을 고정하고 추정했습니다."
        ),
    ),
    "position_unknown": (
        "The position effect is not estimated: {reason}.",
        "위치 효과를 추정하지 못했습니다: {reason}.",
    ),
    "position_chart": ("Share of rounds won by the reply shown first", "먼저 보인 응답의 승률"),
    "shown_first": ("Shown first won", "먼저 보인 쪽 승"),
    "shown_second": ("Shown second won", "나중에 보인 쪽 승"),
    "first_share": ("First's share", "먼저의 비율"),
    "consistency": ("Agreement with themselves", "자기 일관성"),
    "consistency_caption": (
        "Matches on which all readable rounds of one judge say the same; and pairs of rounds alike.",
        "한 심판의 판독 가능한 라운드가 모두 같은 경기의 비율과 라운드 쌍의 일치율.",
    ),
    "rounds": ("Rounds", "라운드"),
    "all_alike": ("All rounds alike", "모든 라운드 일치"),
    "pairs_alike": ("Pairs of rounds alike", "라운드 쌍 일치"),
    "between": ("Agreement between judges", "심판 간 일치"),
    "between_caption": (
        "Each judge's own majority per match. {kappa}: 0 is chance, 1 is complete agreement.",
        "경기마다 심판별 다수 의견을 비교. {kappa}: 0은 우연, 1은 완전 일치.",
    ),
    "compared": ("Compared", "비교한 경기"),
    "alike": ("Alike", "일치"),
    "kappa": ("Cohen's kappa", "Cohen의 카파"),
    "one_judge": (
        "One judge only: there is no agreement between judges to report.",
        "심판이 하나라 심판 간 일치는 없습니다.",
    ),
    # breakdowns
    "breakdown_caption": (
        "Win rate (ties as half a win) with its {level} interval; n is the number of matches with a verdict.",
        "승률(무승부는 절반)과 {level} 구간. n은 판결이 난 경기 수.",
    ),
    "by_subject": ("By subject", "과목별"),
    "by_depth": ("By depth of the cut (student utterances so far)", "자른 깊이별(학생 발화 수)"),
    "by_criterion": ("By criterion", "기준별"),
    "by_persona": ("By persona: {factor}", "페르소나별: {factor}"),
    "level": ("Level", "수준"),
    # examples
    "examples_about": (
        "Picked by identity from the run's seed, so that unanimous, majority and split matches are among them.",
        "실행 시드로 뽑았으며 만장일치, 다수일치, 불일치 경기가 포함되도록 했습니다.",
    ),
    "example_title": ("{a} against {b}", "{a} 대 {b}"),
    "example_outcome_win": ("{winner} won", "{winner} 승"),
    "example_outcome_tie": ("tie", "무승부"),
    "example_outcome_invalid": ("invalid", "무효"),
    "student": ("Student", "학생"),
    "teacher": ("Teacher", "교사"),
    "winner": ("winner", "승"),
    "earlier": ("Earlier in the dialogue ({n} utterances)", "앞선 대화({n}개 발화)"),
    "what_judges_wrote": ("What the judges wrote", "심판이 쓴 내용"),
    "round": ("Round", "라운드"),
    "shown_as_a": ("Shown as A", "A로 보인 쪽"),
    "shown_as_b": ("Shown as B", "B로 보인 쪽"),
    "letter": ("Letter", "표기"),
    "vote": ("Vote", "판정"),
    "no_reply": ("(no reply)", "(응답 없음)"),
    # dialogues
    "dialogues_ends": ("How dialogues ended", "대화가 끝난 이유"),
    "end": ("End", "종료"),
    "notes": ("Rules of reading that had to act", "읽기 규칙이 적용된 대화"),
    "note": ("Rule", "규칙"),
    "of_dialogues": (
        "Of {of} dialogues ({complete} complete), {turns} turns planned.",
        "대화 {of}개 기준({complete}개 완료), 계획 {turns}턴.",
    ),
    "notes_caption": (
        "Dialogues in which the rule acted at least once, of {of}.",
        "{of}개 중 규칙이 한 번 이상 적용된 대화 수.",
    ),
    "no_dialogues": (
        "The subsets came from a file: there are no dialogues in this run.",
        "부분 대화를 파일에서 가져와 이 실행에는 대화가 없습니다.",
    ),
    "no_notes": ("No rule had to act in {of} dialogues.", "대화 {of}개에서 적용된 규칙이 없습니다."),
    # missing
    "stage": ("Stage", "단계"),
    "done": ("Usable", "사용 가능"),
    "asked_for": ("Asked for", "요청"),
    "what_dialogues": ("Complete dialogues", "완료된 대화"),
    "what_subsets": ("Subsets", "부분 대화"),
    "what_replies": ("Replies", "응답"),
    "what_rounds": ("Readable rounds", "판독된 라운드"),
    "what_verdicts": ("Valid verdicts", "유효한 판결"),
    "failures_by_kind": ("Failures by kind", "종류별 실패"),
    "kind": ("Kind", "종류"),
    "first_message": ("The first one says", "첫 메시지"),
    "no_failures": ("No failures were recorded.", "기록된 실패가 없습니다."),
    # cost
    "cost_caption": (
        (
            "Every call in the journal of this run, also those that were asked again. Tokens as the providers "
            "counted them; input includes cached. A price that is not in the configuration is unknown, not zero."
        ),
        (
            "이 실행의 기록에 있는 모든 호출(다시 물은 것 포함). 토큰은 제공자가 센 값이며 입력은 캐시를 포함. "
            "설정에 없는 가격은 0이 아니라 알 수 없음."
        ),
    ),
    "calls_ok": ("Answered", "응답"),
    "calls_failed": ("Failed", "실패"),
    "retried": ("Tried again", "재시도"),
    "tokens_input": ("Tokens in", "입력 토큰"),
    "tokens_output": ("Tokens out", "출력 토큰"),
    "tokens_thinking": ("Thinking", "사고 토큰"),
    "tokens_cached": ("Cached", "캐시 토큰"),
    "usd": ("USD", "USD"),
    "n_priced": ("{usd} ({n} of {of} priced)", "{usd} ({of} 중 {n} 가격 있음)"),
    "total": ("Total", "합계"),
    "no_calls": ("The journal holds no call of this run's stages.", "이 실행 단계의 호출 기록이 없습니다."),
    # provenance
    "made_by": ("Program", "프로그램"),
    "seed": ("Seed", "시드"),
    "language": ("Language of the dialogues", "대화 언어"),
    "days": ("Calls made (UTC days)", "호출 날짜(UTC)"),
    "days_between": ("{first} to {last}", "{first} ~ {last}"),
    "prompts": ("Prompts", "프롬프트"),
    "inputs": ("Inputs", "입력"),
    "settings": ("Settings", "설정"),
    "hash": ("Hash", "해시"),
    "name": ("Name", "이름"),
    "value": ("Value", "값"),
    "item": ("Item", "항목"),
    "model": ("Model", "모델"),
    "answered_as": ("Answered as", "응답한 모델"),
    "provider_default": ("provider's default", "제공자 기본값"),
    "role": ("Roles", "역할"),
    "role_student": ("student", "학생"),
    "role_teacher": ("teacher", "교사"),
    "role_contestant": ("contestant", "평가 대상"),
    "role_judge": ("judge", "심판"),
    "endpoints": ("Endpoints", "엔드포인트"),
    "verify_hint": (
        "tutor-arena verify --run recomputes every figure here from the journal, offline, and compares the files.",
        "tutor-arena verify --run 명령이 기록에서 모든 수치를 오프라인으로 다시 계산해 파일을 비교합니다.",
    ),
}


class Words:
    """The words of one language: ``words("title", name="x")``."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._place = 1 if language == "ko" else 0

    def __call__(self, key: str, **values: object) -> str:
        text = WORDS[key][self._place]
        return text.format(**values) if values else text
