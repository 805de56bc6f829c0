"""Keeps a server that does not answer from costing every login its whole time-out.

After ``failures`` in a row requests fail at once. When its time is over one request goes out as a
probe: its success closes the circuit, its failure opens it for twice as long, at most 5 s.
"""

from __future__ import annotations

import threading
from typing import Callable, Optional

from ._reply import ServerState

_OPEN_SECONDS_MAX = 5.0


class Circuit:
    def __init__(self, failures: int, open_seconds: float, now: Callable[[], float]) -> None:
        self._failures_max, self._first_seconds, self._now = failures, open_seconds, now
        self._lock = threading.Lock()
        self._failures = 0
        self._open_seconds = open_seconds
        self._until: Optional[float] = None
        self._probe: Optional[object] = None

    def admit(self) -> Optional[object]:
        """None: not now. The holder of an admission must report how its request ended."""
        with self._lock:
            admission = object()
            if self._until is None:
                return admission
            if self._probe is not None or self._now() < self._until:
                return None
            self._probe = admission
            return admission

    def end(self, admission: object, server: ServerState) -> bool:
        """True where the circuit opens."""
        with self._lock:
            if server == "alive":
                self._failures, self._until, self._probe = 0, None, None
                self._open_seconds = self._first_seconds
                return False
            if server == "unknown":
                if admission is self._probe:
                    self._probe = None
                return False
            # What began before it opened says nothing new.
            if self._until is not None and admission is not self._probe:
                return False
            self._failures += 1
            if self._until is None and self._failures < self._failures_max:
                return False
            self._until, self._probe = self._now() + self._open_seconds, None
            self._open_seconds = min(self._open_seconds * 2, _OPEN_SECONDS_MAX)
            return True
