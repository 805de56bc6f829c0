"""Logins through a client for Python, for python-logins.ts: ``python-logins.py URL threads|asyncio
CIRCUIT_FAILURES``, the key in IPRISK_KEY. Each line of the input, ``COUNT AT_ONCE``, is answered by
the waits in milliseconds, and how late a sleep of this process ended meanwhile, or for how long the
thread had no core; the end of the input by what was counted."""

import asyncio
import bisect
import itertools
import json
import os
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src/client-python"))

from iprisk import AsyncClient, Client  # noqa: E402

TIMEOUT = 0.15
url, kind, circuit_failures = sys.argv[1:]
told: "Counter[str]" = Counter()
ends: "Counter[str]" = Counter()
numbers = itertools.count()
#: Ends of short sleeps, and how late each was: that is the machine's doing, not the client's.
slept_at = [0.0]
slept_late = [0.0]


def sleep_again() -> None:
    while True:
        begun = time.monotonic()
        time.sleep(0.005)
        slept_late.append(time.monotonic() - begun - 0.005)
        slept_at.append(time.monotonic())


def new_address() -> str:
    at = next(numbers)
    return f"9.{at >> 16 & 255}.{at >> 8 & 255}.{at & 255}"


def seconds_without_core() -> float:
    """How long this thread could have run and had no core."""
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return int(file.read().split()[1]) / 1e9


Begin = Tuple[float, float]


def begin() -> Begin:
    return time.monotonic(), seconds_without_core()


def wait_since(began: Begin) -> "tuple[float, float]":
    begun, without_core = began
    ended = time.monotonic()
    late = 0.0
    if ended - begun > TIMEOUT:
        late = max(slept_late[bisect.bisect(slept_at, begun) - 1 :])
        late = max(late, seconds_without_core() - without_core)
    return (ended - begun) * 1000, late * 1000


def log_in(client: Client) -> "tuple[float, float]":
    begun = begin()
    try:
        ends["checked" if client.check(new_address()).ok else "unchecked"] += 1
    except BaseException:
        ends["raised"] += 1
    return wait_since(begun)


async def log_in_async(client: AsyncClient) -> "tuple[float, float]":
    begun = begin()
    try:
        ends["checked" if (await client.check(new_address())).ok else "unchecked"] += 1
    except BaseException:
        ends["raised"] += 1
    return wait_since(begun)


def main() -> None:
    threading.Thread(target=sleep_again, daemon=True).start()
    options = {
        "timeout": TIMEOUT,
        "cache_seconds": 0,
        "circuit_failures": int(circuit_failures),
        "on_misconfigured": lambda failure: told.update([failure.reason]),
        "on_unavailable": lambda failure: told.update([failure.reason]),
    }
    key = os.environ["IPRISK_KEY"]
    if kind == "threads":
        client = Client(url, key, **options)

        def run(count: int, at_once: int) -> "list[tuple[float, float]]":
            with ThreadPoolExecutor(at_once) as pool:
                return list(pool.map(log_in, itertools.repeat(client, count)))
    else:
        client = AsyncClient(url, key, **options)
        loop = asyncio.new_event_loop()

        async def run_async(count: int, at_once: int) -> "list[tuple[float, float]]":
            left, waits = iter(range(count)), []

            async def worker() -> None:
                for _ in left:
                    waits.append(await log_in_async(client))

            await asyncio.gather(*(worker() for _ in range(at_once)))
            return waits

        def run(count: int, at_once: int) -> "list[tuple[float, float]]":
            return loop.run_until_complete(run_async(count, at_once))

    for line in sys.stdin:
        count, at_once = map(int, line.split())
        print(json.dumps(run(count, at_once)), flush=True)
    print(json.dumps({"counts": client.counts(), "told": sum(told.values()), "ends": ends}))


main()
