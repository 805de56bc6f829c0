"""The addresses of the server's name. The system's resolver takes no time-out, so one thread asks it
while those that need the name wait until their deadlines."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any, List, Optional, Tuple

from .._address.text import parse_address

#: Family and address, as sockets take them.
Place = Tuple[int, Any]

_KNOWN_SECONDS = 30.0


def left(deadline: float) -> float:
    """The seconds until the deadline; raises TimeoutError where none are left."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class _Lookup:
    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.places: List[Place] = []
        self.error = ""


class Names:
    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._is_literal = parse_address(host) is not None
        self._lock = threading.Lock()
        self._lookup: Optional[_Lookup] = None
        self._known: List[Place] = []
        self._until = 0.0

    def find(self, deadline: float) -> List[Place]:
        """Those that are known are used while they are looked up again."""
        if self._is_literal and not self._known:
            self._known = self._resolve()
        with self._lock:
            known = list(self._known)
            if known and (self._is_literal or time.monotonic() < self._until):
                return known
            lookup = self._lookup
            if lookup is None:
                lookup = _Lookup()
                run = threading.Thread(
                    target=self._look_up, args=(lookup,), name="iprisk-name", daemon=True
                )
                run.start()
                self._lookup = lookup
        if known:
            return known
        if not lookup.is_over.wait(left(deadline)):
            raise TimeoutError
        if lookup.error:
            raise OSError(lookup.error)
        return lookup.places

    def put_last(self, place: Place) -> None:
        """It did not answer in time: the next connection begins with another one."""
        with self._lock:
            if place in self._known:
                self._known.remove(place)
                self._known.append(place)

    def _look_up(self, lookup: _Lookup) -> None:
        try:
            lookup.places = self._resolve()
        except Exception as error:  # Also a name that cannot be encoded.
            lookup.error = str(error) or type(error).__name__
        with self._lock:
            if lookup.places:
                self._known = list(lookup.places)
            self._until = time.monotonic() + _KNOWN_SECONDS
            self._lookup = None
        lookup.is_over.set()

    def _resolve(self) -> List[Place]:
        rows = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        return [(int(row[0]), row[4]) for row in rows]
