"""The visitor's address behind proxies, by the trust words of the Node client.

The walk begins at the peer, whose address cannot be forged, and goes on to the host that a proxy
names as long as the one that names it is trusted. The answer is never what an untrusted host said.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .text import bare_address, parse_address
from .forwarded import forwarded_addresses

_Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]

#: A number of proxies; or addresses, prefixes and presets.
Trust = Union[int, str, Sequence[str]]
Headers = Mapping[str, str]
#: Whether a host is a trusted proxy. The peer is hop 0.
IsTrusted = Callable[[Optional[str], int], bool]

ADDRESS_HEADERS = (
    "x-forwarded-for",
    "forwarded",
    "cf-connecting-ip",
    "true-client-ip",
    "x-real-ip",
    "fly-client-ip",
    "x-azure-clientip",
)

#: The presets of src/client/address/proxy-presets.ts; a test holds the two together.
PRESETS: Mapping[str, Sequence[str]] = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "fc00::/7",
        "fe80::/10",
    ),
    "cloudflare": (
        "103.21.244.0/22",
        "103.22.200.0/22",
        "103.31.4.0/22",
        "104.16.0.0/13",
        "104.24.0.0/14",
        "108.162.192.0/18",
        "131.0.72.0/22",
        "141.101.64.0/18",
        "162.158.0.0/15",
        "172.64.0.0/13",
        "173.245.48.0/20",
        "188.114.96.0/20",
        "190.93.240.0/20",
        "197.234.240.0/22",
        "198.41.128.0/17",
        "2a06:98c0::/29",
        "2c0f:f248::/32",
        "2400:cb00::/32",
        "2405:8100::/32",
        "2405:b500::/32",
        "2606:4700::/32",
        "2803:f800::/32",
    ),
    "fastly": (
        "23.235.32.0/20",
        "43.249.72.0/22",
        "103.244.50.0/24",
        "103.245.222.0/23",
        "103.245.224.0/24",
        "104.156.80.0/20",
        "140.248.64.0/18",
        "140.248.128.0/17",
        "146.75.0.0/17",
        "151.101.0.0/16",
        "157.52.64.0/18",
        "167.82.0.0/17",
        "167.82.128.0/20",
        "167.82.160.0/20",
        "167.82.224.0/20",
        "172.111.64.0/18",
        "185.31.16.0/22",
        "199.27.72.0/21",
        "199.232.0.0/16",
        "2a04:4e40::/32",
        "2a04:4e42::/32",
    ),
    "aws-alb": (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "fd00::/8",
    ),
}


class Walk(NamedTuple):
    #: None where not even the peer's is known.
    address: Optional[str]
    #: A trusted proxy wrote something that is not an address.
    is_unread: bool
    #: The header's entries, that of the nearest proxy first.
    named: List[Optional[str]]


def client_address(
    peer: Optional[str],
    headers: Headers,
    *,
    trust: Trust = 0,
    header: str = "x-forwarded-for",
) -> Optional[str]:
    """The visitor's address; None where not even the peer's is known. Every header but the named
    one is ignored. Raises ValueError for a wrong ``trust`` or ``header`` alone."""
    return walk_proxies(peer, headers, trust=trust, header=header).address


def walk_proxies(peer: Optional[str], headers: Headers, *, trust: Trust, header: str) -> Walk:
    is_trusted = read_trust(trust)
    value = header_in(headers, checked_header(header))
    named = [] if value is None else forwarded_addresses(header.lower(), value)
    named.reverse()
    address = bare_address(peer)
    for hop, following in enumerate(named):
        if not is_trusted(address, hop):
            break
        if following is None:
            return Walk(address, True, named)
        address = following
    return Walk(address, False, named)


def checked_header(header: str) -> str:
    name = header.lower() if isinstance(header, str) else ""
    if name not in ADDRESS_HEADERS:
        raise ValueError(f"header: give one of {', '.join(ADDRESS_HEADERS)}")
    return name


def header_in(headers: Headers, name: str) -> Optional[str]:
    """``name`` is in lower case. A header in two spellings is two lines of one, in their order."""
    lines = [text for one, text in headers.items() if one.lower() == name and isinstance(text, str)]
    return ", ".join(lines) if lines else None


def read_trust(trust: Trust) -> IsTrusted:
    """Raises ValueError for anything that is not a trust."""
    if isinstance(trust, int) and not isinstance(trust, bool):
        return _hops(trust)
    texts = (trust,) if isinstance(trust, str) else trust
    if not isinstance(texts, (list, tuple)) or not all(isinstance(one, str) for one in texts):
        raise ValueError("trust must be a number of proxies, or addresses, prefixes and presets")
    return _ranges(tuple(texts))


def _hops(count: int) -> IsTrusted:
    if count < 0:
        raise ValueError(f"trust: {count} is not a number of proxies")
    return lambda _address, hop: hop < count


# Parsed once: an application uses the same few again and again.
@lru_cache(maxsize=64)
def _ranges(texts: Tuple[str, ...]) -> IsTrusted:
    networks = [_network(one) for text in texts for one in PRESETS.get(text, (text,))]

    def is_trusted(text: Optional[str], _hop: int) -> bool:
        address = parse_address(text)
        return address is not None and any(
            address.version == one.version and address in one for one in networks
        )

    return is_trusted


def _network(text: str) -> _Network:
    base, _, length = text.partition("/")
    try:
        if "%" in base or not re.fullmatch(r"0|[1-9][0-9]{0,2}|", length) or text.endswith("/"):
            raise ValueError
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        presets = ", ".join(PRESETS)
        raise ValueError(
            f"trust: {text!r} is not an address, a prefix or a preset ({presets})"
        ) from None
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is not None and network.prefixlen >= 96:
        return ipaddress.IPv4Network((int(mapped), network.prefixlen - 96), strict=False)
    return network
