"""The addresses in a forwarding header, in the order in which the proxies wrote them. An entry that is
not an address is None, but keeps its place: the entry to its left was written by the host it stands for."""

from __future__ import annotations

import re
from typing import List, Optional

from .text import bare_address

#: Longer headers are cut at the left, which the client itself wrote.
_HEADER_CHARS_MAX = 4096

_FOR = re.compile(r'\s*for\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))\s*', re.IGNORECASE)


def forwarded_addresses(header: str, value: str) -> List[Optional[str]]:
    text = value[-_HEADER_CHARS_MAX:]
    if header == "forwarded":
        return [_forwarded_for(one) for one in _parts(text, ",") if one.strip()]
    if header != "x-forwarded-for":
        return [bare_address(text)]
    # RFC 9110, 5.6.1: empty elements of a list count for nothing.
    return [bare_address(one) for one in text.split(",") if one.strip()]


def _forwarded_for(element: str) -> Optional[str]:
    for pair in _parts(element, ";"):
        match = _FOR.fullmatch(pair)
        if match:
            quoted, token = match.groups()
            return bare_address(token if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
    return None


def _parts(text: str, separator: str) -> List[str]:
    """The parts between separators outside quotes, read from the right, where the nearest proxy
    wrote: a quote that the client leaves open spoils what the client wrote and nothing else."""
    parts: List[str] = []
    end = len(text)
    is_quoted = False
    for at in range(len(text) - 1, -1, -1):
        if text[at] == '"':
            is_quoted ^= not _is_escaped(text, at)
        elif text[at] == separator and not is_quoted:
            parts.append(text[at + 1 : end])
            end = at
    parts.append(text[:end])
    return parts[::-1]


def _is_escaped(text: str, quote: int) -> bool:
    """Of the backslashes before it each second one is escaped itself."""
    first = quote
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (quote - first) % 2 == 1
