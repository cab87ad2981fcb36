"""The words of the raters' pages, in Korean and English."""

from __future__ import annotations

_TEXTS: dict[str, tuple[str, str]] = {
    "language": ("언어", "Language"),
    "consent_title": ("참여 안내와 동의", "Information and consent"),
    "ethics": ("윤리위원회 승인 번호", "Ethics approval"),
    "ethics_none": (
        "파일럿입니다: 윤리위원회 승인 번호가 아직 없습니다.",
        "This is a pilot: there is no ethics approval number yet.",
    ),
    "contact": ("문의", "Contact"),
    "minutes": ("예상 시간: 약 {minutes}분", "Expected time: about {minutes} minutes"),
    "fee": ("사례비: {fee}", "Fee: {fee}"),
    "retention": (
        "자료는 연구가 끝난 뒤 {years}년 동안 보관하고 폐기합니다.",
        "The data are kept for {years} years after the study and then destroyed.",
    ),
    "agree": (
        "위 내용을 읽고 이해했으며 스스로 참여에 동의합니다.",
        "I have read and understood this and take part of my own free will.",
    ),
    "agree_missing": ("참여하려면 동의에 표시해 주세요.", "Please tick the box if you want to take part."),
    "name": ("이름", "Name"),
    "email": ("이메일", "Email"),
    "phone": ("전화번호", "Phone"),
    "personal": (
        "이름과 연락처 (답변과 따로 보관하며 사례비 지급에만 씁니다)",
        "About you (kept apart from your answers, used only to pay you)",
    ),
    "start": ("동의하고 시작하기", "Agree and begin"),
    "decline": ("참여하지 않기", "Do not take part"),
    "declined": (
        "참여하지 않기로 하셨습니다. 저장한 것은 없습니다. 마음이 바뀌면 같은 링크를 다시 여세요.",
        "You chose not to take part. Nothing was kept. If you change your mind, open the same link again.",
    ),
    "reconsider": ("안내문 다시 보기", "See the information again"),
    "training": ("연습", "Practice"),
    "training_note": ("연습 답변은 집계하지 않습니다.", "Practice answers are not counted."),
    "item": ("문항 {position} / {total}", "Item {position} of {total}"),
    "original": ("원문", "Original"),
    "dialogue": ("대화", "Dialogue"),
    "reply": ("분석 결과", "Reply to rate"),
    "reply_left": ("답변 A", "Reply A"),
    "reply_right": ("답변 B", "Reply B"),
    "student": ("학생", "Student"),
    "teacher": ("선생님", "Teacher"),
    "left": ("A가 더 좋음", "A is better"),
    "right": ("B가 더 좋음", "B is better"),
    "both_good": ("둘 다 좋음", "Both are good"),
    "both_bad": ("둘 다 나쁨", "Both are bad"),
    "na": ("해당 없음", "does not apply"),
    "only_if": ("앞 문항에 '{answer}'(으)로 답한 경우에만", "Only if you answered “{answer}” above"),
    "optional": ("선택", "optional"),
    "next": ("저장하고 다음으로", "Save and go on"),
    "finish": ("마치기", "Finish"),
    "previous": ("이전 문항", "Previous item"),
    "missing": ("아직 답하지 않은 문항입니다.", "Please answer this question."),
    "wrong_option": ("보기 가운데 하나를 골라 주세요.", "Please choose one of the options."),
    "wrong_number": ("숫자로 적어 주세요.", "Please write a number."),
    "wrong_range": ("범위를 벗어난 값입니다.", "This value is out of range."),
    "wrong_long": ("너무 깁니다.", "This is too long."),
    "incomplete": (
        "빠진 답이 있습니다. 적으신 답은 저장했습니다.",
        "Some answers are missing. What you gave is saved.",
    ),
    "saved": ("저장됨", "Saved"),
    "saving": ("저장 중…", "Saving…"),
    "unsaved": (
        "연결이 끊겼습니다. 이 페이지를 닫지 마세요. 다시 연결되면 저장합니다.",
        "No connection. Please keep this page open: your answers are saved as soon as it is back.",
    ),
    "survey": ("마무리 설문", "Closing survey"),
    "thanks": ("참여해 주셔서 감사합니다", "Thank you for taking part"),
    "all_saved": ("모든 답변을 저장했습니다.", "All of your answers are saved."),
    "code": ("철회 코드", "Withdrawal code"),
    "code_note": (
        "답변을 지우고 싶으면 연구자에게 이 코드를 알려 주세요. 적어 두세요.",
        "If you want your answers deleted, give this code to the researchers. Please write it down.",
    ),
    "left_study": ("이 링크는 더 이상 쓰지 않습니다.", "This link is no longer in use."),
    "refused": ("개인 링크로 들어와 주세요.", "Please use your personal link."),
    "forged": (
        "이 요청은 이 페이지에서 온 것이 아니어서 받지 않았습니다. 페이지를 다시 열어 주세요.",
        "This request did not come from our own page and was refused. Please open the page again.",
    ),
    "unreadable": ("보낸 내용을 읽을 수 없습니다.", "What was sent cannot be read."),
    "not_found": ("없는 페이지입니다.", "There is no such page."),
    "too_large": ("보낸 내용이 너무 깁니다.", "What was sent is too long."),
    "signature": ("이름 / 서명", "Name / signature"),
    "date": ("날짜", "Date"),
    "consent_sheet": ("동의서", "Consent form"),
    "paper_vote": ("하나만 고르세요", "Choose one"),
}


def words(language: str) -> dict[str, str]:
    """All texts in this language (Korean for "ko", else English)."""
    place = 0 if language == "ko" else 1
    return {key: pair[place] for key, pair in _TEXTS.items()}
