"""The same run on several machines, on a Dask cluster (extra ``[cluster]``).

shares.py     which items are whose, by identity
addresses.py  what ``--on`` may say
desk.py       what the machines of a run have in common: limits, caps, progress, the word to stop
service.py    the desk as a part of the scheduler, and how it is asked
shard.py      one worker's part of a stage: the ordinary stage functions, a journal segment of its own
segments.py   segments of workers that do not see the run folder, fetched in blocks
kept.py       segments left on the disks of such workers: found again, let go
keys.py       keys for workers, and when they may be sent
quiet.py      the words of the library kept from people
crew.py       the driver's workers: found, looked at, given shards
watch.py      one stage while it is made elsewhere: progress, losses, the end, the merge
pipeline.py   the stages as the driver runs them: first elsewhere, then over what came
"""
