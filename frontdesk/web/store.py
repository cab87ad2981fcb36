"""The data of a study: answers under pseudonyms in one file, persons in another, and what concerns both.

A method returns after its transaction is on disk, so what was acknowledged survives a killed server. Methods are
called from one thread at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from arena.human.certificate import Assignment
from arena.human.folder import StudyFolder
from frontdesk.web.answers import Answers
from frontdesk.web.database import timestamp
from frontdesk.web.persons import Persons
from runstore.problems import Problem


class Store:
    """Open the data of a planned study, making the files at first use."""

    def __init__(self, folder: StudyFolder, *, now: Callable[[], float] = time.time) -> None:
        self.folder, self._now = folder, now
        if folder.purged_json.exists():
            raise Problem(f"{folder.path}: the data of this study were purged; see {folder.purged_json.name}")
        self.answers = Answers(folder.ratings_db, folder.rows(), now=now)
        self.persons = Persons(folder.persons_db)
        self.persons.invite(self.answers.to_invite())

    def close(self) -> None:
        self.answers.close()
        self.persons.close()

    def links(self) -> list[tuple[str, str, str]]:
        """(rater, token, withdrawal code) in the order of the plan."""
        order = {row.rater: at for at, row in enumerate(self.folder.rows())}
        return sorted(self.persons.links(), key=lambda link: order.get(link[0], len(order)))

    def consent(self, rater: str, personal: Mapping[str, str]) -> None:
        """Record consent; personal data go to the persons' file."""
        at = timestamp(self._now())
        self.persons.consented(rater, personal, at)
        self.answers.consented(rater, at)

    def hand_over(self, rater: str, by: str, rows: Sequence[Assignment]) -> None:
        """Open items of ``rater`` now belong to ``by``, who gets a link; unfinished answers are dropped."""
        self.answers.hand_over(rater, by, rows)
        self.persons.invite(self.answers.to_invite())

    def withdraw(self, code: str) -> str:
        """Delete everything a person gave, in both files, and their link. Raises Problem for an unknown code."""
        rater = self.persons.with_code(code)
        if rater is None:
            raise Problem("this withdrawal code is not known (or was used already); nothing was deleted")
        self.answers.erase(rater)
        self.persons.forget(rater)
        return rater

    def forget_persons(self) -> None:
        """Delete names, links and codes for good: what remains is anonymous, and nobody can go on or withdraw."""
        self.answers.make_anonymous()
        self.persons.forget_all()
