"""``synth push``: a finished dataset becomes one commit of a dataset repository on the Hugging Face Hub.

The branch is read first, and the commit names what was read as its parent, so it either lands on exactly that state or
not at all. Whatever else happens (a lost reply, a kill, someone else's commit), the next look at the branch
tells: the same files there = done. Large files are sent before the commit; the Hub keeps them by their hash, so a
second try sends only what is missing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from synth.dataset.reader import Dataset, load
from synth.errors import InputError, SynthError
from synth.publish.clearance import check_rows, check_unchanged, checked, publishable_edition
from synth.publish.contents import LocalFile, RemoteFile, differences, moved
from synth.publish.hub import (
    Announce,
    Failure,
    FailureKind,
    Patience,
    PushFailed,
    classify,
    polite,
    without_addresses,
    without_xet,
    xet_is_on,
)
from synth.redaction import Redactor

if TYPE_CHECKING:
    from huggingface_hub import HfApi

__all__ = ["Pushed", "push", "token_for"]

T = TypeVar("T")

_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_REVISION = re.compile(r"[\w][\w./-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Pushed:
    """What a push did, or with ``dry_run`` would do."""

    repo: str
    url: str
    """Where a browser finds it."""
    revision: str
    """The branch."""
    commit: str | None
    """The branch's commit that holds the dataset; None in a dry run that found it elsewhere."""
    private: bool
    files: int
    bytes: int
    """Of all files of the dataset."""
    sent: tuple[str, ...]
    """Files whose bytes were not there."""
    moved: tuple[str, ...]
    """Files whose bytes were there under another name: they are copied on the Hub, and nothing of them is sent."""
    deleted: tuple[str, ...]
    """Files of an older version that the commit removes."""
    redacted: int
    """Documents whose text was redacted, since no licence is stated for it."""
    left_out: tuple[str, ...]
    """Files in the folder that are not part of a dataset."""
    dry_run: bool

    @property
    def unchanged(self) -> bool:
        """The repository held the very same dataset already: there was nothing to commit."""
        return not self.sent and not self.moved and not self.deleted


@dataclass(frozen=True)
class _Head:
    """A branch as it was read."""

    commit: str
    private: bool
    files: dict[str, RemoteFile]


def push(
    folder: str | Path,
    repo: str,
    *,
    public: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    endpoint: str | None = None,
    patience: Patience | None = None,
    announce: Announce | None = None,
    validated: str | None = None,
) -> Pushed:
    """Publish the dataset in ``folder`` as ``repo`` (``user/name``), private unless ``public``.

    Validates first, and looks for keys, paths and host names. A repository that exists keeps its visibility: where it
    is another one than asked for, nothing is sent. With ``dry_run`` nothing is written on the Hub. With ``public``
    the text of documents without a stated licence is redacted: what is sent is the edition that ``redact``
    makes of the dataset, in a temporary folder. A private repository gets all of it.

    Args:
        revision: A branch, made where there is none; default ``main``.
        endpoint: Of the Hub; default ``HF_ENDPOINT``, else the public one.
        announce: Gets a line for each thing that a person who waits may want to know.
        validated: Hash of the ``report.json`` of a dataset that ``validate`` found nothing wrong with: its rows are not
            checked once more where it is still the same.

    Raises:
        InputError: no dataset there, a bad name, no token, or a repository that the token does not open.
        DatasetError: the dataset is invalid, or holds what must not be published.
        PushFailed: the Hub did not take it. The repository is as it was before.
    """
    say: Announce = announce or (lambda line: None)
    branch = _named(repo, revision)
    dataset = load(folder)
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.constants import is_offline_mode

    token = get_token() if dry_run else token_for(repo)
    if validated is None:
        check_rows(dataset, say)
    else:
        check_unchanged(dataset, validated)
    with ExitStack() as stack:
        sent_from = publishable_edition(dataset, stack, say) if public else dataset
        about = sent_from.report.redacted
        files, beside = checked(dataset, sent_from, public, token, say)
        api = HfApi(endpoint=endpoint, token=token if token is not None else False)
        exchange = _Exchange(api, repo, branch, public, files, patience or Patience(), say)
        if dry_run and (token is None or is_offline_mode()):
            say(f"not compared with the Hub: {'no token' if token is None else 'HF_HUB_OFFLINE is set'}")
            head = None
        else:
            with polite(exchange.patience, repo, say):
                head = exchange.look() if dry_run else exchange.run(_message(dataset))
    there = exchange.before if exchange.before is not None else head.files if head else {}
    sent, gone = differences(files, there)
    elsewhere = moved(sent, there)
    return Pushed(
        repo=repo,
        url=f"{api.endpoint}/datasets/{repo}" + (f"/tree/{branch}" if revision is not None else ""),
        revision=branch,
        commit=head.commit if head and (not dry_run or not (sent or gone)) else None,
        private=head.private if head else not public,
        files=len(files),
        bytes=sum(file.size for file in files),
        sent=tuple(file.name for file in sent if file.name not in elsewhere),
        moved=tuple(elsewhere),
        deleted=tuple(gone),
        redacted=about.documents if about else 0,
        left_out=tuple(beside),
        dry_run=dry_run,
    )


def token_for(repo: str) -> str:
    """The token of the environment (``HF_TOKEN``) or of the Hub's own login. It goes into requests and nowhere else.

    Raises:
        InputError: there is none, or the Hub's library is set to stay offline.
    """
    from huggingface_hub import get_token
    from huggingface_hub.constants import is_offline_mode

    if is_offline_mode():
        raise InputError("HF_HUB_OFFLINE is set, so nothing can be pushed", where=repo, mend="unset it")
    token = get_token()
    if token is None:
        raise InputError(
            "there is no token for the Hub", where=repo, mend="log in with `hf auth login`, or set HF_TOKEN"
        )
    return token


def _named(repo: str, revision: str | None) -> str:
    if not _REPO.fullmatch(repo) or ".." in repo or "--" in repo or repo.endswith((".git", ".", "-")):
        raise InputError(
            f"{repo!r} is not a repository name", where="--repo", mend="give user/name or organization/name"
        )
    if revision is None:
        return "main"
    if not _REVISION.fullmatch(revision) or ".." in revision or _COMMIT.fullmatch(revision):
        raise InputError(f"{revision!r} is not a branch name", where="--revision", mend="give a branch, such as v2")
    return revision


def _message(dataset: Dataset) -> str:
    report = dataset.report
    tasks = sum(report.tables.get("tasks", {}).values())
    return f"{report.dataset}: {tasks:,} tasks, seed {report.seed}, schema {report.schema_version}"


class _Exchange:
    """One push's talk with the Hub."""

    def __init__(
        self,
        api: HfApi,
        repo: str,
        branch: str,
        public: bool,
        files: list[LocalFile],
        patience: Patience,
        say: Announce,
    ) -> None:
        self.api = api
        self.repo = repo
        self.branch = branch
        self.public = public
        self.files = files
        self.patience = patience
        self.say = say
        self.xet = True
        """Whether Xet may be tried: it has not failed yet."""
        self.before: dict[str, RemoteFile] | None = None
        """What the branch held before; None until it was known."""

    def look(self) -> _Head | None:
        """The branch as it is; None where there is none. Retries, writes nothing."""
        return self._patiently(self._read)

    def run(self, message: str) -> _Head:
        """Make the branch hold the files, with one commit at most."""
        first = self._patiently(self._opened)
        self.before = first.files
        send, gone = differences(self.files, first.files)
        if not send and not gone:
            return first
        elsewhere = moved(send, first.files)
        new = [file for file in send if file.name not in elsewhere]
        self.say(
            f"sending {len(new)} files, {sum(file.size for file in new) / 1e6:.1f} MB"
            + (f"; {len(elsewhere)} are there under another name" if elsewhere else "")
        )
        return self._patiently(lambda: self._committed(first, message))

    def _patiently(self, step: Callable[[], T]) -> T:
        """Run ``step`` until it ends with something that trying again would not change."""
        for attempt in range(self.patience.attempts):
            try:
                return step()
            except SynthError:
                raise
            except Exception as error:
                failure = classify(error)
                if failure is None:
                    raise
                if failure.kind is not FailureKind.TRANSIENT or attempt + 1 == self.patience.attempts:
                    raise self._ended(failure) from None
                wait = self.patience.wait(attempt, self.repo, failure.wait)
                if wait > self.patience.longest_wait:
                    raise self._ended(failure) from None
                self.say(f"{self._hidden(failure.what)}: trying again in {wait:.0f} s")
                time.sleep(wait)
        raise AssertionError("every attempt returns or raises")

    def _ended(self, failure: Failure) -> InputError | PushFailed:
        where = f"{self.api.endpoint}/datasets/{self.repo}"
        what = self._hidden(failure.what)
        if failure.kind in (FailureKind.DENIED, FailureKind.ABSENT):
            return InputError(
                f"the token does not open this repository for writing ({what})",
                where=where,
                mend="check the name, and that the token may write there",
            )
        if failure.kind is FailureKind.TRANSIENT:
            return PushFailed(
                f"the Hub did not take the dataset ({what})", where=where, mend="run the same command again later"
            )
        return PushFailed(f"the Hub refused the dataset ({what})", where=where)

    def _hidden(self, text: str) -> str:
        token = self.api.token
        return Redactor([token] if isinstance(token, str) else ()).text(text)

    def _read(self, branch: str | None = None) -> _Head | None:
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

        try:
            info = self.api.dataset_info(
                self.repo, revision=branch or self.branch, files_metadata=True, timeout=self.patience.timeout
            )
        except (RepositoryNotFoundError, RevisionNotFoundError):
            return None
        files = {
            one.rfilename: RemoteFile(one.blob_id, getattr(one.lfs, "sha256", None) if one.lfs else None)
            for one in info.siblings or ()
        }
        head = _Head(info.sha or "", bool(info.private), files)
        if head.private is self.public:
            is_, other = ("private", "public") if head.private else ("public", "private")
            raise InputError(
                f"the repository exists and is {is_}, so nothing was sent",
                where=f"{self.api.endpoint}/datasets/{self.repo}",
                mend=f"make it {other} in its settings, or {'leave out' if self.public else 'give'} --public",
            )
        return head

    def _opened(self) -> _Head:
        """The branch, made where there is none."""
        head = self._read()
        if head is not None:
            return head
        made = self.branch != "main" and self._read("main") is not None  # which looks at its visibility, too
        if not made:
            self.api.create_repo(self.repo, repo_type="dataset", private=not self.public, exist_ok=True)
        if self.branch != "main":
            self.api.create_branch(self.repo, repo_type="dataset", branch=self.branch, exist_ok=True)
        head = self._read()
        if head is None:
            raise self._ended(Failure(FailureKind.ABSENT, "it can't be read after it was made"))
        return head

    def _committed(self, first: _Head, message: str) -> _Head:
        """Send what is missing and commit on ``first``; someone else's commit since then ends it."""
        from huggingface_hub import CommitOperationAdd, CommitOperationCopy, CommitOperationDelete

        head = self._read()
        if head is None:
            raise self._ended(Failure(FailureKind.ABSENT, "it is gone"))
        if head.commit != first.commit:
            return self._met(head)
        send, gone = differences(self.files, head.files)
        elsewhere = moved(send, head.files)

        def commit() -> None:
            operations: list[Any] = [
                CommitOperationAdd(file.name, file.path) for file in send if file.name not in elsewhere
            ]
            operations += [CommitOperationCopy(place, name) for name, place in elsewhere.items()]
            operations += [CommitOperationDelete(name) for name in gone]
            self.api.create_commit(
                self.repo,
                operations,
                commit_message=message,
                repo_type="dataset",
                revision=self.branch,
                parent_commit=first.commit,
            )

        try:
            self._uploading(commit)
        except Exception as error:
            failure = classify(error)
            if failure is None or failure.kind is not FailureKind.MOVED:
                raise
        after = self._read()
        if after is None:
            raise self._ended(Failure(FailureKind.ABSENT, "it is gone"))
        return self._met(after)

    def _uploading(self, commit: Callable[[], None]) -> None:
        """``commit`` by Xet where that is on, until it fails once; from then on by LFS.

        hf_xet raises builtin errors (``ConnectionError``, ``RuntimeError``, ``PermissionError``) without a status.
        """
        if self.xet and xet_is_on():
            try:
                commit()
                return
            except Exception as error:
                if classify(error) is not None:
                    raise
                self.xet = False
                self.say(f"the upload by Xet failed ({self._hidden(without_addresses(error))}): sending by LFS")
        with without_xet():
            commit()

    def _met(self, head: _Head) -> _Head:
        """``head`` holds the dataset: by our commit, whose reply may have been lost, or by an equal one."""
        if any(differences(self.files, head.files)):
            raise PushFailed(
                "someone else committed to it in the meantime, so nothing was published",
                where=f"{self.api.endpoint}/datasets/{self.repo}",
                mend="look at it, then run the same command again",
            )
        return head
