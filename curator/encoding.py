"""Give memories the vectors that recall by meaning needs, as a job: nobody who writes or asks waits for the model.

What has no vector is told by the index, which follows the log, so a lost job loses nothing.
Source: docs/concepts/recall.md (by meaning); docs/adr/0034-vectors-follow-by-a-job.md.
"""

from __future__ import annotations

from curator import jobs
from curator.jobs import Job, Means
from substrate import config
from substrate.errors import Invalid, NoModel
from substrate.scopes.caller import CURATOR
from substrate.store.model import Json

KIND = "encode"
PLACE = "global"  # the job is one for the store; this is where its standing is shown
TEXTS = 1_024  # texts encoded before other jobs have their turn


def note(means: Means) -> None:
    """Open the job where a memory has no vector, or a model whose vectors are whole does not serve yet.

    None is opened for a model that the home has ceased to ask for meanwhile.
    """
    from substrate.recall import index

    db, encoder = means.db, means.encoder
    if encoder is None or config.read(db.home).search.model != encoder.source or not index.of(db).lags(db, encoder):
        return
    with db.write(CURATOR.id) as tx:
        jobs.open_(tx, KIND, PLACE, "vectors")


def run(means: Means, job: Job) -> Json | None:
    """Encode some texts and answer how many; the job is opened again where there are more.

    Raises NoModel where the model does not load, which may be mended.
    """
    from substrate.recall import index

    if means.encoder is None:
        return None
    follower = index.of(means.db)
    try:
        waiting = follower.encode(means.db, means.encoder, limit=0)
        follower.encode(means.db, means.encoder, limit=TEXTS, progress=means.progress)
    except Invalid as error:
        raise NoModel(error.message, hint=error.hint, reason="no_embedder") from error
    return {"encoded": min(waiting, TEXTS)}
