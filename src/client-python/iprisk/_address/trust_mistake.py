"""Detects that a request is judged by a proxy's address instead of the visitor's, because ``trust``
or ``header`` does not match the proxies in front. Unreported, that lets every visitor in, because a
private address is a bogon.

A public address is never a mistake, so no header can cause one on a server without proxies. Messages
repeat no address from the left of a header, which any client can write.
"""

from __future__ import annotations

from typing import Optional

from .forwarded import forwarded_addresses
from .proxies import ADDRESS_HEADERS, Headers, Trust, Walk, header_in, read_trust

_PRIVATE = ("loopback", "private", "100.64.0.0/10")
#: With the unspecified addresses, from which no client connects.
_is_private = read_trust([*_PRIVATE, "0.0.0.0/8", "::"])

#: Headers that proxies write; only ADDRESS_HEADERS are allowed in ``header``.
_KNOWN_HEADERS = (
    *ADDRESS_HEADERS,
    "x-client-ip",
    "x-cluster-client-ip",
    "x-nf-client-connection-ip",
    "x-appengine-user-ip",
    "x-original-forwarded-for",
    "x-envoy-external-address",
    "fastly-client-ip",
    "do-connecting-ip",
    "x-vercel-forwarded-for",
    "cloudfront-viewer-address",
)

_NO_ADDRESS = (
    "The peer's address is unknown, as over a Unix socket, and there is no "
    "trusted header: set trust to the number of proxies (trust=1)."
)


def trust_mistake(
    peer: Optional[str], headers: Headers, walk: Walk, *, trust: Trust, header: str
) -> Optional[str]:
    """What is wrong and which setting fixes it, if anything is known to be wrong."""
    address = walk.address
    if address is None:
        lacks = not peer and (not read_trust(trust)(None, 0) or header_in(headers, header) is None)
        return _NO_ADDRESS if lacks else None
    if _is_public(address):
        return None
    if walk.is_unread:
        return (
            f"The proxy {address} writes something in {header} that is not an address: "
            "configure it to write the address of the visitor."
        )
    # The nearest public address is the visitor's, or that of a proxy such as Cloudflare's.
    for hop, named in enumerate(walk.named, start=1):
        if _is_public(named):
            return _wrong_trust(address, hop, trust, header)
    for other in _KNOWN_HEADERS:
        if other != header and _holds_public(headers, other):
            instead = (
                f', or set header="{other}" if it writes that one itself'
                if other in ADDRESS_HEADERS
                else ""
            )
            return (
                f"{header} holds no public address, but {other} does: "
                f"configure the proxy to write {header}{instead}."
            )
    return None


def _wrong_trust(address: str, hops: int, trust: Trust, header: str) -> str:
    count = f"count the proxies in front, probably trust={hops}"
    if trust == 0:
        return f"trust is not set, but the proxy {address} sends {header}: {count}."
    is_covered = isinstance(trust, int) or read_trust(trust)(address, 0)
    within = [one for one in _PRIVATE if read_trust(one)(address, 0)]
    if not is_covered and within:
        return (
            f"trust does not include the proxy {address}, which sends {header}: "
            f'add "{within[0]}" or its address.'
        )
    return f"trust={trust!r} stops at {address}, but {header} holds a public address: {count}."


def _is_public(address: Optional[str]) -> bool:
    return address is not None and not _is_private(address, 0)


def _holds_public(headers: Headers, name: str) -> bool:
    value = header_in(headers, name)
    # Parsed as a list in any case: it decides nothing.
    form = name if name == "forwarded" else "x-forwarded-for"
    return value is not None and any(map(_is_public, forwarded_addresses(form, value)))
