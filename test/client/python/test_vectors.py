"""What every client must do alike, as JSON that the tests of the Node client read, too."""

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ROOT, answer_for, play, vectors
from iprisk import AsyncClient, Client, client_address
from iprisk._address.proxies import PRESETS
from iprisk._cache import AnswerCache
from iprisk._circuit import Circuit
from iprisk._reply import Reply, meaning_of


@pytest.mark.parametrize("row", vectors("client-address"))
def test_address(row):
    found = client_address(row["peer"], row["headers"], **row["options"])
    assert found == row["expected"]


def test_presets():
    text = (ROOT / "src/client/address/proxy-presets.ts").read_text("utf-8")
    code = re.sub(r"/\*\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    found = re.findall(r"^  '?([a-z-]+)'?: \[(.*?)\]", code, re.DOTALL | re.MULTILINE)
    theirs = {name: re.findall(r"'([^']+)'", body) for name, body in found}
    assert {name: list(prefixes) for name, prefixes in PRESETS.items()} == theirs


@pytest.mark.parametrize("row", vectors("reply-meaning"))
def test_meaning(row):
    meaning = meaning_of(Reply(row["status"], row["text"]))
    reason = "" if meaning.failure is None else meaning.failure.reason
    assert (reason, meaning.server) == (row["reason"], row["server"])


@pytest.mark.parametrize("row", vectors("circuit"))
def test_circuit(row):
    at = [0]
    circuit = Circuit(row["failures"], row["openMs"] / 1000, lambda: at[0] / 1000)
    probe = None
    for step in row["steps"]:
        at[0] = step["at"]
        if step["do"] == "probe_succeeds":
            circuit.end(probe, "alive")
            continue
        admission = circuit.admit()
        assert (admission is None) == (step["do"] == "refused"), step
        if step["do"] == "probe":
            probe = admission
        if step["do"] in ("fail", "succeed"):
            circuit.end(admission, "silent" if step["do"] == "fail" else "alive")


@pytest.mark.parametrize("row", vectors("cache"))
def test_cache(row):
    at = [0]
    cache = AnswerCache(row["max"], row["keepMs"] / 1000, lambda: at[0] / 1000)
    for step in row["steps"]:
        at[0] = step["at"]
        ip, policy = step["ip"], step.get("policy", "")
        if step["do"] == "keep":
            more = {name: step[name] for name in ("prefix", "table", "address") if name in step}
            cache.keep(ip, policy, answer_for(ip, **more), step.get("chars", 1000))
            continue
        found = cache.find(ip, policy)
        assert (found is None) == (step["do"] == "miss"), step
        if "address" in step:
            assert (found["ip"], found.get("address")) == (ip, step["address"])


DEADLINES = [param.values[0] for param in vectors("deadlines")]
TIMEOUT = 0.5


def hold(row, result, seconds, counts):
    found = (result.reason or "", counts["retried"])
    assert found == (row["reason"], row["retried"]), row["claim"]
    # What is slow here goes on for two seconds and more.
    assert seconds < 1.5, row["claim"]
    assert counts["checked"] + counts["timeout"] + counts["unavailable"] == 1, row["claim"]


def test_deadlines(serve):
    def run(row):
        client = Client(serve(play(row["connections"])).url, "irk_x", timeout=TIMEOUT)
        begun = time.monotonic()
        return row, client.check("192.0.2.1"), time.monotonic() - begun, client.counts()

    with ThreadPoolExecutor(len(DEADLINES)) as pool:
        for found in pool.map(run, DEADLINES):
            hold(*found)


def test_async_deadlines(serve):
    async def run(row):
        server = serve(play(row["connections"]))
        async with AsyncClient(server.url, "irk_x", timeout=TIMEOUT) as client:
            begun = time.monotonic()
            result = await client.check("192.0.2.1")
            return row, result, time.monotonic() - begun, client.counts()

    async def run_all():
        return await asyncio.gather(*map(run, DEADLINES))

    for found in asyncio.run(run_all()):
        hold(*found)
