"""The client for threads, on the standard library alone, and the one for asyncio, on httpx. No method
of either raises on a login's path: what goes wrong is in the result."""

from __future__ import annotations

import asyncio
import atexit
import os
import ssl
import time
import weakref
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from typing import Dict, Iterable, List, Mapping, Optional, Union

from ._address.text import parse_address
from ._transport.connections import IDLE_MAX, Connections, idle_seconds
from ._core import BATCH_ADDRESSES_MAX, CheckTerms, Core, Request, unexpected
from ._failure_log import FailureHook
from ._outcomes import Outcomes
from ._reply import Meaning, NoReply, Reply
from ._results import CheckResult, Checked, Failure, Json, Unchecked
from ._settings import read_settings

#: How long the end of the process waits for outcomes.
_EXIT_SECONDS = 2.0
#: How long what has come is read after the deadline.
_LATE_SECONDS = 0.01

_OUT_OF_TIME = Meaning(failure=Failure("timeout", "Not all of the batch in time."))

_clients: "weakref.WeakSet[_AnyClient]" = weakref.WeakSet()


class _AnyClient:
    """Options, reports and counts, which both clients share."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 0.15,
        batch_timeout: float = 10.0,
        fallback: Union[str, Mapping[str, str], None] = None,
        cache_seconds: float = 5.0,
        cache_max: int = 10_000,
        circuit_failures: int = 5,
        circuit_seconds: float = 1.0,
        on_misconfigured: FailureHook = None,
        on_unavailable: FailureHook = None,
    ) -> None:
        """Seconds everywhere. ``timeout`` is for one check, over everything; ``fallback`` is what is
        done where there is no decision: an action, or one a reason; the hooks are called at each
        failure, without them the logger ``iprisk`` gets it. Raises ValueError for a mistake."""
        self._settings = read_settings(
            url,
            key,
            timeout=timeout,
            batch_timeout=batch_timeout,
            fallback=fallback,
            cache_seconds=cache_seconds,
            cache_max=cache_max,
            circuit_failures=circuit_failures,
            circuit_seconds=circuit_seconds,
            on_misconfigured=on_misconfigured,
            on_unavailable=on_unavailable,
        )
        # Made once: it reads the system's certificates, which takes 100 ms.
        self._tls = ssl.create_default_context() if self._settings.scheme == "https" else None
        self._begin()
        _clients.add(self)

    def _begin(self) -> None:
        """Makes all that changes: also in a forked child, where locks may be held by threads that
        are not there, and where the parent's connections must not be used."""
        settings = self._settings
        self._core = Core(settings)
        count = self._core.log.count
        self._connections = Connections(settings, self._tls, lambda: count("retried"))
        self._outcomes = Outcomes(self._core, self._send, settings.batch_timeout)

    def __repr__(self) -> str:
        """Without the key."""
        settings = self._settings
        url = f"{settings.scheme}://{settings.netloc}{settings.path}"
        return f"{type(self).__name__}(url={url!r})"

    def report(
        self, ip: str, outcome: str, *, at: Optional[datetime] = None, note: str = ""
    ) -> bool:
        """Says how an address turned out, ``legitimate`` or ``abusive``. It is sent in the background,
        so this never waits; False where it is lost at once. ``counts()`` has ``reported`` and
        ``lost``."""
        try:
            return self._outcomes.add(ip, outcome, at, note)
        except Exception as error:
            self._core.log.lose(unexpected(error), 1)
            return False

    def counts(self) -> Dict[str, int]:
        """How often each thing happened since the client was made, in this process."""
        return self._core.log.counts()

    def _send(self, request: Request, deadline: float) -> Meaning:
        core, connections = self._core, self._connections
        admission = core.admit(request)
        if admission is None:
            return core.refused()
        try:
            reply = connections.send(request, deadline)
        except BaseException:
            core.withdraw(request, admission)
            raise
        return core.meaning(request, admission, reply)


class Client(_AnyClient):
    def check(
        self,
        ip: str,
        *,
        policy: Optional[str] = None,
        no_address: Optional[str] = None,
        when_limited: str = "allow",
        previous: Optional[Json] = None,
        agent: Optional[Json] = None,
    ) -> CheckResult:
        """``no_address``: what is wrong, if the application's setup hides the visitor's address; the
        result is then ``misconfigured``. ``when_limited``: the fallback of ``limited``, unless the
        client's options set one. ``previous``: ``{"ip": …, "at": RFC 3339}`` of the user's last login,
        for ``answer["travel"]``. ``agent``: ``{"user_agent": …, "signature": …}`` of the visitor's
        request, for ``answer["agent"]``. Whatever is wrong with either fails no check."""
        deadline = time.monotonic() + self._settings.timeout
        core = self._core
        terms = CheckTerms(ip, policy, no_address, when_limited, previous, agent)
        try:
            request = core.begin(terms)
            if isinstance(request, (Checked, Unchecked)):
                return request
            return core.finish(terms, self._send(request, deadline))
        except Exception as error:
            return core.unchecked(unexpected(error))

    def check_batch(
        self, ips: Iterable[str], *, policy: Optional[str] = None
    ) -> List[CheckResult]:
        """Each address has a result of its own, in order. Not for a login's path."""
        deadline = time.monotonic() + self._settings.batch_timeout
        core, batch = self._core, _Batch(ips)
        for part in batch.parts():
            try:
                request = core.batch_request(part, policy)
                in_time = time.monotonic() < deadline
                meaning = self._send(request, deadline) if in_time else _OUT_OF_TIME
                batch.found += core.finish_batch(part, policy, meaning)
            except Exception as error:
                batch.found += [core.unchecked(unexpected(error), times=len(part))] * len(part)
        return batch.results(core)

    def close(self) -> None:
        """Sends the outcomes that wait, and closes idle connections."""
        self._outcomes.flush(self._settings.batch_timeout)
        self._connections.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncClient(_AnyClient):
    """As Client; needs ``iprisk[async]``. Belongs to one event loop."""

    def _begin(self) -> None:
        super()._begin()
        try:
            import httpx
        except ImportError as error:
            raise ImportError('AsyncClient needs httpx: pip install "iprisk[async]"') from error
        # What httpx imports at its first request: the first login would wait for it.
        for module in ("anyio", "anyio._backends._asyncio"):
            with suppress(ImportError):
                import_module(module)
        settings = self._settings
        self._base = f"{settings.scheme}://{settings.netloc}{settings.path}"
        self._closed = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
        # Nothing of the environment: neither a proxy nor a .netrc may get or replace the key.
        self._http = httpx.AsyncClient(
            headers=settings.headers,
            timeout=None,
            trust_env=False,
            limits=httpx.Limits(
                max_connections=None,
                max_keepalive_connections=IDLE_MAX,
                keepalive_expiry=idle_seconds(None),
            ),
            # Without TLS there is nothing to verify.
            verify=self._tls or False,
        )

    async def check(
        self,
        ip: str,
        *,
        policy: Optional[str] = None,
        no_address: Optional[str] = None,
        when_limited: str = "allow",
        previous: Optional[Json] = None,
        agent: Optional[Json] = None,
    ) -> CheckResult:
        deadline = time.monotonic() + self._settings.timeout
        core = self._core
        terms = CheckTerms(ip, policy, no_address, when_limited, previous, agent)
        try:
            request = core.begin(terms)
            if isinstance(request, (Checked, Unchecked)):
                return request
            return core.finish(terms, await self._ask(request, deadline))
        except Exception as error:
            return core.unchecked(unexpected(error))

    async def check_batch(
        self, ips: Iterable[str], *, policy: Optional[str] = None
    ) -> List[CheckResult]:
        deadline = time.monotonic() + self._settings.batch_timeout
        core, batch = self._core, _Batch(ips)
        for part in batch.parts():
            try:
                request = core.batch_request(part, policy)
                in_time = time.monotonic() < deadline
                meaning = await self._ask(request, deadline) if in_time else _OUT_OF_TIME
                batch.found += core.finish_batch(part, policy, meaning)
            except Exception as error:
                batch.found += [core.unchecked(unexpected(error), times=len(part))] * len(part)
        return batch.results(core)

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._outcomes.flush, self._settings.batch_timeout)
        self._connections.close()
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _ask(self, request: Request, deadline: float) -> Meaning:
        core = self._core
        admission = core.admit(request)
        if admission is None:
            return core.refused()
        sent = asyncio.ensure_future(self._post(request))
        sent.add_done_callback(_ignore_error)
        reply: Union[Reply, NoReply] = NoReply("timeout", "No answer in time.")
        try:
            done, _ = await asyncio.wait({sent}, timeout=max(0.0, deadline - time.monotonic()))
            if not done:
                # Where the loop stood still, the answer may have been there for long.
                done, _ = await asyncio.wait({sent}, timeout=_LATE_SECONDS)
            if done:
                reply = sent.result()
        except Exception as error:
            reply = NoReply("unavailable", str(error) or type(error).__name__)
        except BaseException:
            core.withdraw(request, admission)
            raise
        finally:
            # Not waited for: what it still has to close must not hold the login.
            sent.cancel()
        return core.meaning(request, admission, reply)

    async def _post(self, request: Request) -> Reply:
        try:
            return await self._post_once(request)
        except self._closed:
            self._core.log.count("retried")
            return await self._post_once(request)

    async def _post_once(self, request: Request) -> Reply:
        url, body = self._base + request.path, bytearray()
        async with self._http.stream("POST", url, content=request.body) as response:
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > request.bytes_max:
                    raise ValueError("The answer is too long to come from the API.")
        text = body.decode("utf-8", "replace")
        return Reply(response.status_code, text, response.headers.get("X-Request-Id"))


class _Batch:
    """More than one request takes are several, one after the other; what is not an address is not
    sent."""

    def __init__(self, ips: Iterable[str]) -> None:
        given = [ips] if isinstance(ips, str) else list(ips)
        self._is_address = [parse_address(ip) is not None for ip in given]
        self._addresses = [ip for ip, known in zip(given, self._is_address) if known]
        self.found: List[CheckResult] = []

    def parts(self) -> Iterable[List[str]]:
        for at in range(0, len(self._addresses), BATCH_ADDRESSES_MAX):
            yield self._addresses[at : at + BATCH_ADDRESSES_MAX]

    def results(self, core: Core) -> List[CheckResult]:
        found, wrong = iter(self.found), self._is_address.count(False)
        otherwise = core.not_addresses(wrong) if wrong else None
        return [otherwise if not known and otherwise else next(found) for known in self._is_address]


def _ignore_error(sent: "asyncio.Future[Reply]") -> None:
    """For a request that is no longer awaited."""
    if not sent.cancelled():
        sent.exception()


def _in_child() -> None:
    for client in list(_clients):
        client._begin()


def _at_exit() -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    for client in list(_clients):
        client._outcomes.flush(deadline - time.monotonic())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
atexit.register(_at_exit)
