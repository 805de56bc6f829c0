"""Requests over sockets, each within one deadline: name, connection, TLS, request, reply, and the one
retry on another connection. No step waits for longer than what is left, however slowly bytes drip.

http.client reads the replies, because it is strict; it does not open or reuse connections, because
its time-outs restart with each byte.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
import threading
import time
from typing import Any, Callable, List, Optional, Union, cast

from .._core import Request
from .names import Names, left
from .._reply import NoReply, Reply
from .._settings import Settings

IDLE_MAX = 64
#: Of a server that gives no hint: some close after five seconds.
_IDLE_SECONDS = 5.0
#: Whatever the server hints: a connection that waits for longer may be dropped on the way.
_IDLE_SECONDS_MAX = 600.0
_PIECE_BYTES = 65536


class _ConnectionEnded(ConnectionError):
    """The reply ended before its end."""


class _Reader(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(left(self._deadline))
        return self._sock.recv_into(buffer)


class _Connection:
    """One request at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.is_reusable = False
        self._idle_until = 0.0

    def exchange(self, data: bytes, bytes_max: int, deadline: float) -> Reply:
        """Raises where no whole reply comes in time; then the connection must be closed."""
        view = memoryview(data)
        while view:
            self._sock.settimeout(left(deadline))
            view = view[self._sock.send(view) :]
        reader = io.BufferedReader(_Reader(self._sock, deadline), _PIECE_BYTES)
        response = http.client.HTTPResponse(cast(socket.socket, _FileOnly(reader)), method="POST")
        response.begin()
        body = bytearray()
        while piece := response.read(min(_PIECE_BYTES, bytes_max + 1 - len(body))):
            body += piece
            if len(body) > bytes_max:
                raise ValueError("The answer is too long to come from the API.")
        if response.length:
            raise _ConnectionEnded("The connection was closed within the answer.")
        self.is_reusable = not response.will_close
        self._idle_until = time.monotonic() + idle_seconds(response.getheader("Keep-Alive"))
        text = body.decode("utf-8", "replace")
        return Reply(response.status, text, response.getheader("X-Request-Id"))

    def is_usable(self) -> bool:
        """Not closed by the server, and nothing came that was not requested."""
        if time.monotonic() >= self._idle_until:
            return False
        try:
            self._sock.settimeout(0)
            self._sock.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            pass
        return False

    def close(self) -> None:
        self._sock.close()


class _FileOnly:
    """All that HTTPResponse wants of a socket."""

    def __init__(self, reader: io.BufferedReader) -> None:
        self._reader = reader

    def makefile(self, _mode: str) -> io.BufferedReader:
        return self._reader


class Connections:
    def __init__(
        self, settings: Settings, tls: Optional[ssl.SSLContext], on_retry: Callable[[], None]
    ) -> None:
        self._host, self._tls, self._on_retry = settings.host, tls, on_retry
        self._names = Names(settings.host, settings.port)
        lines = "".join(f"{name}: {value}\r\n" for name, value in settings.headers.items())
        self._path, self._head = settings.path, f" HTTP/1.1\r\n{lines}Content-Length: "
        self._lock = threading.Lock()
        self._idle: List[_Connection] = []

    def send(self, request: Request, deadline: float) -> Union[Reply, NoReply]:
        """Never raises an Exception."""
        head = f"POST {self._path}{request.path}{self._head}{len(request.body)}\r\n\r\n"
        data = head.encode("ascii") + request.body
        try:
            try:
                return self._send_on(self._take() or self._open(deadline), data, request, deadline)
            except Exception as error:
                if not _is_closed(error):
                    raise
            self._on_retry()
            return self._send_on(self._open(deadline), data, request, deadline)
        except (TimeoutError, socket.timeout):
            return NoReply("timeout", "No answer in time.")
        except Exception as error:
            return NoReply("unavailable", str(error) or type(error).__name__)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _send_on(
        self, connection: _Connection, data: bytes, request: Request, deadline: float
    ) -> Reply:
        try:
            reply = connection.exchange(data, request.bytes_max, deadline)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            is_kept = connection.is_reusable and len(self._idle) < IDLE_MAX
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            connection.close()
        return reply

    def _take(self) -> Optional[_Connection]:
        """The one that was used last; those that can no longer be used are closed."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if connection.is_usable():
                return connection
            connection.close()

    def _open(self, deadline: float) -> _Connection:
        last: Exception = OSError("The server's name has no address.")
        for place in self._names.find(deadline):
            family, address = place
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.settimeout(left(deadline))
                sock.connect(address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._tls is not None:
                    sock.settimeout(left(deadline))
                    sock = self._tls.wrap_socket(sock, server_hostname=self._host)
                return _Connection(sock)
            except (TimeoutError, socket.timeout):
                sock.close()
                self._names.put_last(place)
                raise
            except OSError as error:
                sock.close()
                last = error
            except BaseException:
                sock.close()
                raise
        raise last


def _is_closed(error: Exception) -> bool:
    """The connection had been closed, or was closed under the request: another one may bring the
    answer. Neither a refused connection nor bytes that are not HTTP are that."""
    closed = (
        ConnectionResetError,
        ConnectionAbortedError,
        BrokenPipeError,
        _ConnectionEnded,
        http.client.IncompleteRead,
        ssl.SSLEOFError,
        ssl.SSLZeroReturnError,
    )
    return isinstance(error, closed)


def idle_seconds(hint: Optional[str]) -> float:
    """How long a connection is kept: for less than the server does."""
    found = re.search(r"\btimeout=([0-9]{1,6})", hint or "", re.IGNORECASE)
    seconds = min(float(found.group(1)) if found else _IDLE_SECONDS, _IDLE_SECONDS_MAX)
    return max(seconds - 1, seconds / 2)
