"""One check a request for Flask, Django and FastAPI. A decision of a policy, or the client's
fallback, stops a request by 403 or by a response of the application's own; a score alone never does.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import re
from typing import Any, Awaitable, Callable, Dict, Mapping, NamedTuple, Optional
from urllib.parse import quote
from wsgiref.util import request_uri

from ._address.proxies import Headers, Trust, Walk, checked_header, header_in, read_trust, walk_proxies
from ._address.trust_mistake import trust_mistake
from ._results import CheckResult

_log = logging.getLogger("iprisk")

_PREVIOUS_SECONDS = 0.25
#: In place of what a function failed to give: the server reports it in ``context_errors``.
_NO_PREVIOUS: Mapping[str, str] = {}
_USER_AGENT_MAX = 1024


class Judged(NamedTuple):
    """What is known of a request: ``flask.g.iprisk``, ``request.iprisk``, ``request.state.iprisk``."""

    action: str
    result: CheckResult
    #: The address that was checked; None where none is known.
    address: Optional[str]
    #: Stops no request, and logs what would have been done.
    observed: bool


class _Request(NamedTuple):
    """What a framework knows of a request."""

    peer: Optional[str]
    headers: Headers
    method: str
    #: With its query, as it was sent; asked for only where the request is signed.
    path: Callable[[], str]
    #: The framework's own.
    known: Any


class _Guard:
    """What all three do; raises ValueError where an option is wrong."""

    def __init__(
        self,
        client: Any,
        *,
        policy: Optional[str] = None,
        previous: Optional[Callable[[Any], Any]] = None,
        agents: bool = False,
        trust: Trust = 0,
        header: str = "x-forwarded-for",
        path: str = "/",
        observe: bool = False,
        log: Optional[Callable[[Judged], object]] = None,
        challenge: Optional[Callable[..., Any]] = None,
        block: Optional[Callable[..., Any]] = None,
        actions: Optional[Mapping[str, Callable[..., Any]]] = None,
    ) -> None:
        """``path``: only requests at it and below are checked. ``log`` is called for each request
        that is not allowed; with ``observe`` they are let in, and logged by default. ``challenge``,
        ``block`` and ``actions`` (for words of the policy's own) respond in place of the application;
        an action that is not there is a challenge. ``previous`` gets the framework's request (ASGI:
        the scope) and returns the ``previous`` of the check or None; what it raises fails no check,
        nor does a coroutine that takes longer than 250 ms. ``agents``: sends the visitor's
        User-Agent and what signs the request."""
        if policy is not None and (not isinstance(policy, str) or not policy):
            raise ValueError("policy must be a name; leave it out for the default")
        if previous is not None and not callable(previous):
            raise ValueError("previous must be a function of the request; leave it out for none")
        read_trust(trust)
        self._previous_of, self._agents = previous, agents
        self._client, self._trust, self._header = client, trust, checked_header(header)
        self._path, self._observe = path.rstrip("/"), observe
        self._log = log or (_log_observed if observe else None)
        self._handlers: Dict[str, Optional[Callable[..., Any]]] = {
            "challenge": challenge,
            "block": block,
            **(actions or {}),
        }
        self._terms: Dict[str, Any] = {"policy": policy}
        if self._handlers["challenge"] is not None:
            self._terms["when_limited"] = "challenge"

    def concerns(self, path: str) -> bool:
        return path == self._path or path.startswith(self._path + "/")

    def judge(self, request: _Request) -> Judged:
        walk, mistake = self._walk(request)
        if walk.address is None:
            return self._judged(self._client.check("", no_address=mistake, **self._terms), walk)
        context = self._context(request, self._previous(request))
        result = self._client.check(walk.address, **self._terms, **context)
        # Any client can write the header that shows a mistake, so it undoes no decision to stop.
        if mistake is not None and _action_of(result) == "allow":
            result = self._client.check("", no_address=mistake, **self._terms)
        return self._judged(result, walk)

    async def judge_async(self, request: _Request) -> Judged:
        walk, mistake = self._walk(request)
        if walk.address is None:
            result = await self._client.check("", no_address=mistake, **self._terms)
            return self._judged(result, walk)
        context = self._context(request, await _in_time(self._previous(request)))
        result = await self._client.check(walk.address, **self._terms, **context)
        if mistake is not None and _action_of(result) == "allow":
            result = await self._client.check("", no_address=mistake, **self._terms)
        return self._judged(result, walk)

    def stops(self, judged: Judged) -> bool:
        return judged.action != "allow" and not self._observe

    def handler(self, judged: Judged) -> Optional[Callable[..., Any]]:
        """What responds in place of the application; None: 403."""
        return self._handlers.get(judged.action, self._handlers["challenge"])

    def _walk(self, request: _Request) -> "tuple[Walk, Optional[str]]":
        peer, headers = request.peer, request.headers
        source: Dict[str, Any] = {"trust": self._trust, "header": self._header}
        walk = walk_proxies(peer, headers, **source)
        return walk, trust_mistake(peer, headers, walk, **source)

    def _previous(self, request: _Request) -> Any:
        if self._previous_of is None:
            return None
        try:
            return self._previous_of(request.known)
        except Exception:
            return _NO_PREVIOUS

    def _context(self, request: _Request, previous: Any) -> Dict[str, Any]:
        """The terms of a check that are sent only where there is something to send."""
        context = {} if previous is None else {"previous": previous}
        return {**context, "agent": _agent_of(request)} if self._agents else context

    def _judged(self, result: CheckResult, walk: Walk) -> Judged:
        judged = Judged(_action_of(result), result, walk.address, self._observe)
        if judged.action != "allow" and self._log is not None:
            try:
                self._log(judged)
            except Exception:  # It must not become the request's problem.
                _log.exception("iprisk: a function for requests raised")
        return judged


async def _in_time(previous: Any) -> Any:
    if not inspect.isawaitable(previous):
        return previous
    task = asyncio.ensure_future(_settled(previous))
    try:
        # It may go on after it is cancelled, so nothing waits for that.
        done, _ = await asyncio.wait({task}, timeout=_PREVIOUS_SECONDS)
        return task.result() if done else _NO_PREVIOUS
    finally:
        task.cancel()


async def _settled(previous: Awaitable[Any]) -> Any:
    try:
        return await previous
    except (Exception, asyncio.CancelledError):
        return _NO_PREVIOUS


def _agent_of(request: _Request) -> Dict[str, Any]:
    """Applications behind a proxy see its scheme, so that of the visitor is taken to be https."""

    def header(name: str) -> str:
        return header_in(request.headers, name) or ""

    agent: Dict[str, Any] = {"user_agent": header("user-agent")[:_USER_AGENT_MAX]}
    if header("signature"):
        signing = ("signature", "signature-input", "signature-agent")
        agent["signature"] = {
            "method": request.method,
            "scheme": "https",
            "authority": header("host"),
            "path": request.path(),
            "headers": {name: header(name) for name in signing},
        }
    return agent


def _action_of(result: CheckResult) -> str:
    """An answer without a decision stops no request: a score is not a decision."""
    action = result.action
    return "allow" if action is None else action


def _log_observed(judged: Judged) -> None:
    result = judged.result
    why = (result.decision or {}).get("rule", "") if result.ok else result.reason
    _log.info("iprisk would %s %s: %s", judged.action, judged.address or "an unknown address", why)


def _problem(judged: Judged) -> bytes:
    """RFC 9457; says nothing of the reasons."""
    detail = (
        "This request is not allowed from your network."
        if judged.action == "block"
        else "This request requires further proof of your identity."
    )
    problem = {"type": "about:blank", "title": "Forbidden", "status": 403}
    return json.dumps({**problem, "detail": detail, "action": judged.action}).encode()


_PROBLEM_TYPE = "application/problem+json"


def flask(app: Any, client: Any, **options: Any) -> None:
    """Checks the requests of an application or blueprint before they are handled. Handlers are
    views without parameters. Options: see _Guard."""
    from flask import Response, g, request

    guard = _Guard(client, **options)

    def check() -> Any:
        if not guard.concerns(request.path):
            return None
        asked = _Request(
            request.remote_addr,
            dict(request.headers),
            request.method,
            lambda: _wsgi_path(request.environ),
            request,
        )
        g.iprisk = judged = guard.judge(asked)
        if not guard.stops(judged):
            return None
        handler = guard.handler(judged)
        if handler is not None:
            return handler()
        return Response(_problem(judged), 403, content_type=_PROBLEM_TYPE)

    app.before_request(check)


def django(client: Any, **options: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """``guard = django(client, …)`` in a module of yours, ``"that.module.guard"`` in MIDDLEWARE.
    Handlers are views. Options: see _Guard."""
    guard = _Guard(client, **options)

    def middleware(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
        from django.http import HttpResponse

        def handle(request: Any) -> Any:
            if not guard.concerns(request.path):
                return get_response(request)
            asked = _Request(
                request.META.get("REMOTE_ADDR"),
                dict(request.headers),
                request.method,
                request.get_full_path,
                request,
            )
            request.iprisk = judged = guard.judge(asked)
            if not guard.stops(judged):
                return get_response(request)
            handler = guard.handler(judged)
            if handler is not None:
                return handler(request)
            return HttpResponse(_problem(judged), status=403, content_type=_PROBLEM_TYPE)

        return handle

    return middleware


class AsgiMiddleware:
    """``app.add_middleware(AsgiMiddleware, client=AsyncClient(…))`` in FastAPI or Starlette. Handlers
    are ASGI applications. Options: see _Guard."""

    def __init__(self, app: Callable[..., Awaitable[None]], client: Any, **options: Any) -> None:
        if not inspect.iscoroutinefunction(getattr(client, "check", None)):
            raise ValueError("client must be an AsyncClient; a Client would block the event loop")
        self._app, self._guard = app, _Guard(client, **options)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not self._guard.concerns(scope["path"]):
            await self._app(scope, receive, send)
            return
        asked = _Request(
            (scope.get("client") or (None,))[0],
            _headers_of(scope),
            scope.get("method", ""),
            lambda: _asgi_path(scope),
            scope,
        )
        judged = await self._guard.judge_async(asked)
        scope.setdefault("state", {})["iprisk"] = judged
        if not self._guard.stops(judged):
            await self._app(scope, receive, send)
            return
        handler = self._guard.handler(judged)
        if handler is not None:
            await handler(scope, receive, send)
            return
        headers = [(b"content-type", _PROBLEM_TYPE.encode())]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": _problem(judged)})


def _wsgi_path(environ: Any) -> str:
    uri = environ.get("RAW_URI") or environ.get("REQUEST_URI") or request_uri(environ)
    return re.sub(r"^https?://[^/]*", "", uri)


def _asgi_path(scope: Any) -> str:
    raw, query = scope.get("raw_path") or quote(scope["path"]).encode(), scope.get("query_string")
    # Some servers have the query in both.
    path: bytes = raw.split(b"?")[0] + (b"?" + query if query else b"")
    return path.decode("latin-1")


def _headers_of(scope: Any) -> Headers:
    """Repeated lines joined in their order: the nearest proxy's word stays last."""
    headers: Dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
