"""Answers of the last seconds, so that a login that comes in five requests costs one check.

An answer is kept for the prefix that it names (contract 6.4: scope of an answer), else for its address alone. The least
recently used goes first. Another table's answer empties the cache.
"""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from typing import Callable, Dict, NamedTuple, Optional, Set, Tuple

from ._address.text import Address, parse_address
from ._results import Json

#: For the text of all answers that are kept: room for 10,000 plain ones.
_CHARS_MAX = 16 * 1024 * 1024

#: Policy, family, length and the bits of the prefix.
_Key = Tuple[str, int, int, int]


class _Kept(NamedTuple):
    answer: Json
    until: float
    chars: int


class AnswerCache:
    def __init__(self, answers_max: int, seconds: float, now: Callable[[], float]) -> None:
        self._max, self._seconds, self._now = answers_max, seconds, now
        self.is_on = answers_max > 0 and seconds > 0
        self._lock = threading.Lock()
        self._kept: "OrderedDict[_Key, _Kept]" = OrderedDict()
        #: Of the prefixes that are or were kept, by family.
        self._lengths: Dict[int, Set[int]] = {4: set(), 6: set()}
        self._chars = 0
        self._table = ""

    def find(self, ip: str, policy: str) -> Optional[Json]:
        address = parse_address(ip)
        if address is None:
            return None
        with self._lock:
            for length in self._lengths[address.version]:
                key = _key(policy, address, length)
                kept = self._kept.get(key)
                if kept is None:
                    continue
                if kept.until <= self._now():
                    self._drop(key)
                    continue
                self._kept.move_to_end(key)
                return kept.answer if kept.answer["ip"] == ip else _about(ip, address, kept.answer)
            return None

    def keep(self, ip: str, policy: str, answer: Json, chars: int) -> None:
        """``chars``: how long the answer's text was."""
        address = parse_address(ip)
        if address is None:
            return
        with self._lock:
            if answer["table"] != self._table:
                self._kept.clear()
                self._lengths = {4: set(), 6: set()}
                self._chars = 0
                self._table = answer["table"]
            if not self.is_on:
                return
            length = _prefix_length(answer.get("prefix"), address)
            key = _key(policy, address, length)
            self._drop(key)
            self._kept[key] = _Kept(answer, self._now() + self._seconds, chars)
            self._lengths[address.version].add(length)
            self._chars += chars
            while len(self._kept) > self._max or self._chars > _CHARS_MAX:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._chars -= kept.chars


def _key(policy: str, address: Address, length: int) -> _Key:
    return (policy, address.version, length, int(address) >> (address.max_prefixlen - length))


def _prefix_length(prefix: object, address: Address) -> int:
    """The whole address where the answer names no prefix around it: that is not believed."""
    network, slash, length = prefix.partition("/") if isinstance(prefix, str) else ("", "", "")
    try:
        if slash and length.isascii() and length.isdigit():
            around = ipaddress.ip_network((network, int(length)), strict=False)
            if around.version == address.version and address in around:
                return around.prefixlen
    except ValueError:
        pass
    return address.max_prefixlen


def _about(ip: str, address: Address, answer: Json) -> Json:
    """What the server would say of this address, from the answer for another one."""
    rest = {name: value for name, value in answer.items() if name != "address"}
    judged = {} if str(address) == ip else {"address": str(address)}
    return {**rest, "ip": ip, **judged}
