"""The providers' batch interfaces: half the price, answers within a day, behind the same journal.

runner = BatchRunner(gateway)
sheets = await runner.whole(lambda ask: score_all(ask, form, subjects, judges))
"""
