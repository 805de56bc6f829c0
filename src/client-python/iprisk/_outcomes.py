"""How addresses turned out, sent in the background in batches, so that a login never waits for it.

A thread lives while there is something to send. What an outage or a spent rate refuses is sent again
later; what the queue has no room for, the server refuses, or is left at the end is lost and counted.
"""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from datetime import datetime, timezone
from typing import Callable, Deque, Dict, List, Optional

from ._address.text import parse_address
from ._core import Core, Request
from ._reply import NO_ANSWER, Meaning
from ._results import Failure, Json

#: Of one request, by the API.
_BATCH_MAX = 1000
_QUEUE_MAX = 10_000
_NOTE_BYTES_MAX = 200
#: How long outcomes wait for others to go with them, and at most after failures.
_GATHER_SECONDS = 1.0
_PAUSE_SECONDS_MAX = 30.0

_QUEUE_FULL = Failure("unavailable", f"More than {_QUEUE_MAX} outcomes are waiting to be sent.")
_LEFT_AT_END = Failure("unavailable", "The application ended before they were sent.")


class Outcomes:
    def __init__(
        self, core: Core, ask: Callable[[Request, float], Meaning], timeout: float
    ) -> None:
        """``ask`` sends a request within a deadline."""
        self._core, self._ask, self._timeout = core, ask, timeout
        self._changed = threading.Condition()
        self._queue: Deque[Json] = deque()
        self._is_running = False
        self._is_ending = False

    def add(self, ip: str, outcome: str, at: Optional[datetime], note: str) -> bool:
        """False where it is lost at once. Never waits."""
        mistake = _mistake_in(ip, outcome, at, note)
        if mistake is not None:
            self._core.log.lose(Failure("misconfigured", mistake), 1)
            return False
        row: Dict[str, str] = {"ip": ip, "outcome": outcome, "at": _text_of(at)}
        if note:
            row["note"] = note
        with self._changed:
            is_full = len(self._queue) >= _QUEUE_MAX
            if not is_full:
                if not self._is_running:
                    thread = threading.Thread(target=self._run, name="iprisk-report", daemon=True)
                    thread.start()
                    self._is_running, self._is_ending = True, False
                self._queue.append(row)
                if len(self._queue) >= _BATCH_MAX:
                    self._changed.notify_all()
        if is_full:
            self._core.log.lose(_QUEUE_FULL, 1)
        return not is_full

    def flush(self, seconds: float) -> None:
        """Sends what waits, for so long at most; what is left then is lost."""
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._is_running, max(0.0, seconds))
            count = len(self._queue)
            self._queue.clear()
        if count:
            self._core.log.lose(_LEFT_AT_END, count)

    def _run(self) -> None:
        try:
            self._send_all()
        except BaseException:
            # The next outcome begins another thread.
            with self._changed:
                self._is_running = False
                self._changed.notify_all()
            raise

    def _send_all(self) -> None:
        pause = _GATHER_SECONDS
        while True:
            with self._changed:
                is_first = pause == _GATHER_SECONDS
                self._changed.wait_for(
                    lambda: self._is_ending or (is_first and len(self._queue) >= _BATCH_MAX), pause
                )
                batch = [self._queue.popleft() for _ in range(min(_BATCH_MAX, len(self._queue)))]
                if not batch:
                    self._is_running = False
                    self._changed.notify_all()
                    return
            waiting = self._send(batch)
            with self._changed:
                self._queue.extendleft(reversed(waiting))
            pause = min(pause * 2, _PAUSE_SECONDS_MAX) if waiting else _GATHER_SECONDS

    def _send(self, batch: List[Json]) -> List[Json]:
        """Those that are to be sent again later."""
        log = self._core.log
        while batch:
            try:
                request = self._core.report_request(batch)
                meaning = self._ask(request, time.monotonic() + self._timeout)
            except Exception as error:
                log.lose(Failure("unavailable", str(error) or type(error).__name__), len(batch))
                return []
            failure = meaning.failure
            accepted = (meaning.body or {}).get("accepted")
            if failure is None and isinstance(accepted, int):
                log.count("reported", len(batch))
                log.answered("report")
                return []
            failure = failure or NO_ANSWER
            refused = re.match(r"outcomes\[([0-9]{1,4})\]", meaning.param or "")
            if refused is not None and int(refused.group(1)) < len(batch):
                # One row makes the API refuse all.
                del batch[int(refused.group(1))]
                log.lose(failure, 1)
            elif failure.reason in ("unavailable", "limited") and not self._is_ending:
                log.lose(failure, 0)
                return batch
            else:
                log.lose(failure, len(batch))
                return []
        return []


def _mistake_in(ip: object, outcome: object, at: object, note: object) -> Optional[str]:
    if parse_address(ip) is None:
        return "report: not an IP address"
    if outcome not in ("legitimate", "abusive"):
        return 'report: the outcome is "legitimate" or "abusive"'
    if at is not None and not isinstance(at, datetime):
        return "report: at is a datetime"
    if not isinstance(note, str) or len(note.encode("utf-8", "replace")) > _NOTE_BYTES_MAX:
        return f"report: the note is a text of at most {_NOTE_BYTES_MAX} bytes"
    return None


def _text_of(at: Optional[datetime]) -> str:
    moment = datetime.now(timezone.utc) if at is None else at.astimezone(timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
