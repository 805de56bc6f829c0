"""The text of addresses, read as strictly as the API does: what passes here is not refused there."""

from __future__ import annotations

import ipaddress
import re
from typing import Optional, Union

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

_BRACKETED = re.compile(r"\[([^\]]*)\](?::(?:[0-9]{1,5}|_[A-Za-z0-9_.-]+))?")
_QUAD = re.compile(r"([0-9.]+):(?:[0-9]{1,5}|_[A-Za-z0-9_.-]+)")
_ZONE = re.compile(r"%[A-Za-z0-9_.~-]+$")


def parse_address(text: object) -> Optional[Address]:
    """The address, an IPv4-mapped one as IPv4; None for anything else."""
    if not isinstance(text, str) or "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def bare_address(text: object) -> Optional[str]:
    """The address in a text that may have a port, brackets or a zone with it, as it was written;
    an IPv4-mapped one becomes IPv4."""
    if not isinstance(text, str):
        return None
    text = text.strip(" \t\r\n")
    match = _BRACKETED.fullmatch(text) or _QUAD.fullmatch(text)
    found = _ZONE.sub("", match.group(1) if match else text)
    address = parse_address(found)
    if address is None:
        return None
    return str(address) if address.version == 4 else found
