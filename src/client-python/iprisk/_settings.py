"""What a client is made with, checked whole when it is made: a mistake raises at the application's
start, not at its first login."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Dict, Mapping, Optional, Union
from urllib.parse import urlsplit

from ._failure_log import FailureHook
from ._results import fallback_for

#: The most that a cache may keep.
_CACHE_MAX = 10_000
_SECONDS_MAX = 2_147_483.0


@dataclass(frozen=True)
class Settings:
    scheme: str
    host: str
    port: int
    #: As the Host header has it.
    netloc: str
    #: What stands before ``/v1``.
    path: str
    #: Kept out of texts that end in logs and error reports.
    key: str = field(repr=False)
    timeout: float
    batch_timeout: float
    fallback: Mapping[str, str]
    cache_seconds: float
    cache_max: int
    circuit_failures: int
    circuit_seconds: float
    on_misconfigured: FailureHook
    on_unavailable: FailureHook

    @property
    def headers(self) -> Dict[str, str]:
        return {
            "Host": self.netloc,
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
        }


def read_settings(
    url: str,
    key: str,
    *,
    timeout: float,
    batch_timeout: float,
    fallback: Union[str, Mapping[str, str], None],
    cache_seconds: float,
    cache_max: int,
    circuit_failures: int,
    circuit_seconds: float,
    on_misconfigured: FailureHook,
    on_unavailable: FailureHook,
) -> Settings:
    """Raises ValueError, whose message never repeats the key."""
    scheme, host, port, netloc, path = _server(url)
    if not isinstance(key, str) or not re.fullmatch(r"[!-~]+", key):
        raise ValueError("key must be an API key without surrounding white space")
    for name, hook in (("on_misconfigured", on_misconfigured), ("on_unavailable", on_unavailable)):
        if hook is not None and not callable(hook):
            raise ValueError(f"{name} must be a function")
    return Settings(
        scheme,
        host,
        port,
        netloc,
        path,
        key,
        _number("timeout", timeout, 0.001),
        _number("batch_timeout", batch_timeout, 0.001),
        fallback_for(fallback),
        _number("cache_seconds", cache_seconds, 0),
        min(int(_number("cache_max", cache_max, 0)), _CACHE_MAX),
        int(_number("circuit_failures", circuit_failures, 1)),
        _number("circuit_seconds", circuit_seconds, 0.001),
        on_misconfigured,
        on_unavailable,
    )


def _number(name: str, value: float, least: float) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not least <= value <= _SECONDS_MAX:
        raise ValueError(f"{name} must be a number from {least} to {_SECONDS_MAX:.0f}")
    return value


_URL = 'url: give the server\'s, such as "http://127.0.0.1:8080"'


def _server(url: str) -> "tuple[str, str, int, str, str]":
    if not isinstance(url, str) or not re.fullmatch(r"[!-~]+", url) or re.search(r"[?#\\]", url):
        raise ValueError(_URL)
    port: Optional[int] = None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_URL) from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise ValueError(_URL)
    if "@" in parts.netloc:
        raise ValueError("url must not contain a user or password; set the key in key")
    default = 443 if parts.scheme == "https" else 80
    return parts.scheme, host, port or default, parts.netloc, parts.path.rstrip("/")
