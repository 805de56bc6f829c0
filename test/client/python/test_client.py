"""The clients over real sockets that answer, fail and hang; forks, exits and secrets."""

import asyncio
import datetime
import json
import logging
import os
import pickle
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT, answer_for, answering, wait_for
from iprisk import AsyncClient, Client, client_address
from iprisk._failure_log import FailureLog
from iprisk._results import Failure

KEY = "irk_secret"


class OnLoop:
    """An AsyncClient as if it were a Client, so that one test holds both."""

    def __init__(self, url, key, **options):
        self._loop = asyncio.new_event_loop()
        self.client = AsyncClient(url, key, **options)

    def _run(self, coroutine):
        return self._loop.run_until_complete(coroutine)

    def check(self, ip, **terms):
        return self._run(self.client.check(ip, **terms))

    def check_batch(self, ips, **terms):
        return self._run(self.client.check_batch(ips, **terms))

    def close(self):
        self._run(self.client.close())

    def __getattr__(self, name):
        return getattr(self.client, name)


@pytest.fixture(params=[Client, OnLoop], ids=["threads", "asyncio"])
def new(request):
    made = []

    def make(url, **options):
        made.append(request.param(url, KEY, **{"timeout": 5, **options}))
        return made[-1]

    yield make
    for client in made:
        client.close()


def test_answers_decisions_and_the_cache_by_prefix(serve, new):
    server = serve(answering)
    client = new(server.url + "/base/")
    first = client.check("203.0.113.7", policy="login")
    assert first.ok and first.action == "block" and first.decision["policy"] == "login"
    again = client.check("203.0.113.8", policy="login")
    assert again.answer["ip"] == "203.0.113.8"
    client.check("203.0.113.8")
    client.check("198.51.100.1")
    assert len(server.requests) == 3 and server.connections == 1
    head, body = server.requests[0]
    assert head.startswith("POST /base/v1/intelligence/ip-risk/check?include=prefix HTTP/1.1\r\n")
    assert f"Authorization: Bearer {KEY}" in head
    assert body == {"ip": "203.0.113.7", "policy": "login"}
    assert client.counts()["cached"] == 1 and client.counts()["checked"] == 4


@pytest.mark.parametrize("member", ["previous", "agent"])
def test_context_is_sent_and_never_kept_and_nothing_in_it_fails_a_check(serve, new, member):
    server = serve(answering)
    client = new(server.url)
    circle = []
    circle.append(circle)
    right = {"ip": "192.0.2.1", "at": "2026-08-22T10:00:00Z"}
    wrong = [{"ip": float("nan")}, {"at": datetime.datetime.now()}, circle, "x" * 70_000]
    for value in [right, *wrong]:
        assert client.check("203.0.113.7", **{member: value}).ok
    assert [body[member] for _, body in server.requests] == [right] + [None] * len(wrong)
    client.check("203.0.113.7")
    assert client.check("203.0.113.7").ok and member not in server.requests[-1][1]
    assert client.counts()["cached"] == 1


def test_batches(serve, new):
    client = new(serve(answering).url)
    results = client.check_batch(ip for ip in ["192.0.2.1", "no", "2001:db8::1"])
    assert [(one.ok, one.reason) for one in results] == [
        (True, None),
        (False, "invalid_address"),
        (True, None),
    ]
    assert client.check_batch([]) == [] and len(client.check_batch("192.0.2.1")) == 1
    many = client.check_batch([f"10.{n >> 8}.{n & 255}.1" for n in range(10_001)])
    assert len(many) == 10_001 and all(one.ok for one in many)


def test_a_failed_batch_is_reported_once_and_counted_for_each(serve, new):
    def act(server, connection, _count):
        while server.read(connection) is not None:
            server.reply(connection, {"results": []})

    told = []
    client = new(serve(act).url, on_unavailable=told.append)
    results = client.check_batch([f"192.0.2.{n}" for n in range(50)])
    assert {one.reason for one in results} == {"unavailable"}
    assert client.counts()["unavailable"] == 50 and len(told) == 1


def test_failures_are_results_and_are_reported(serve, new):
    def refusing(server, connection, _count):
        while server.read(connection) is not None:
            server.reply(connection, {"error": {"code": "unauthorized", "message": "no"}}, 401)

    told = []
    hooks = {"on_misconfigured": told.append, "on_unavailable": told.append}
    client = new(serve(refusing).url, fallback={"misconfigured": "deny"}, **hooks)
    result = client.check("192.0.2.1")
    assert (result.ok, result.reason, result.action) == (False, "misconfigured", "deny")
    assert told[0].code == "unauthorized" and told[0].status == 401
    assert client.check("not one").action == "challenge"
    assert client.check("", no_address="It is hidden.").reason == "misconfigured"
    assert told[1].message == "It is hidden."
    assert client.check("192.0.2.1", policy=5).reason == "misconfigured"


def test_the_circuit(new):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    told = []
    client = new(url, circuit_failures=2, circuit_seconds=60, on_unavailable=told.append)
    assert [client.check("192.0.2.1").reason for _ in range(3)] == ["unavailable"] * 3
    assert client.counts()["opened"] == 1
    assert told[-1].message.startswith("The server failed recently")
    # That of batches is another one.
    client.check_batch(["192.0.2.1"])
    assert not told[-1].message.startswith("The server failed recently")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (answer_for("192.0.2.99"), "unavailable"),
        (answer_for("192.0.2.1", decision={"action": "block", "policy": "other"}), "unavailable"),
        (answer_for("192.0.2.1", decision={"action": 5, "policy": "login"}), "unavailable"),
        (answer_for("192.0.2.1", decision=None), "unavailable"),
        ({**answer_for("192.0.2.1"), "risk_score": True}, "unavailable"),
        ({**answer_for("192.0.2.1"), "risk_score": float("nan")}, "unavailable"),
        ({"ip": "192.0.2.1"}, "unavailable"),
        (answer_for("192.0.2.1"), "misconfigured"),
    ],
)
def test_what_is_no_answer_to_what_was_asked_is_not_believed(serve, new, body, reason):
    def act(server, connection, _count):
        while (asked := server.read(connection)) is not None:
            server.reply(connection, {"results": [body]} if "ips" in asked else body)

    client = new(serve(act).url)
    assert client.check("192.0.2.1", policy="login").reason == reason
    assert client.check_batch(["192.0.2.1"], policy="login")[0].reason == reason


@pytest.mark.parametrize(
    "reply",
    [
        b"\x00\xff" * 500,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (2 << 20),
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 500,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[[",
    ],
)
def test_what_is_not_http_or_too_long_is_a_result(serve, new, reply):
    def act(server, connection, _count):
        server.read(connection)
        connection.sendall(reply)

    assert new(serve(act).url).check("192.0.2.1").reason == "unavailable"


def test_a_connection_that_was_closed_while_idle_costs_nothing(serve, new):
    def act(server, connection, _count):
        server.reply(connection, answer_for(server.read(connection)["ip"]))

    server = serve(act)
    client = new(server.url, cache_seconds=0)
    assert client.check("192.0.2.1").ok
    wait_for(lambda: server.ended == 1)
    assert client.check("192.0.2.2").ok
    assert client.counts()["retried"] == 0


def test_bytes_that_nobody_asked_for_end_the_connection(serve):
    is_idle, is_sent = threading.Event(), threading.Event()

    def act(server, connection, _count):
        while (asked := server.read(connection)) is not None:
            server.reply(connection, answer_for(asked["ip"]))
            is_idle.wait(20)
            server.reply(connection, answer_for("192.0.2.2", classification="tor"))
            is_sent.set()

    server = serve(act)
    client = Client(server.url, KEY, timeout=5)
    client.check("192.0.2.1")
    is_idle.set()
    is_sent.wait(20)
    assert client.check("192.0.2.2").answer["classification"] == "clean"
    assert server.connections == 2


def test_threads_lose_and_miscount_nothing(serve):
    def faulty(server, connection, count):
        while (asked := server.read(connection)) is not None:
            if count % 7 == 6:
                return
            server.reply(connection, answer_for(asked["ip"]), 503 if count % 5 == 4 else 200)

    client = Client(serve(faulty).url, KEY, timeout=5, on_unavailable=lambda _: None)
    results = []

    def run(part):
        for at in range(50):
            results.append(client.check(f"192.0.{part}.{at}"))

    threads = [threading.Thread(target=run, args=(part,)) for part in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = client.counts()
    assert len(results) == 400
    assert counts["checked"] == sum(one.ok for one in results)
    assert counts["unavailable"] + counts["timeout"] == sum(not one.ok for one in results)


def test_a_cancelled_check_ends_at_once_and_frees_the_probe(serve):
    def silent(server, connection, _count):
        server.read(connection)
        server.read(connection)

    async def run():
        client = AsyncClient(serve(silent).url, KEY, timeout=60, circuit_failures=1)
        client._core._light.end(object(), "silent")
        client._core._light._until = 0.0
        check = asyncio.ensure_future(client.check("192.0.2.1"))
        await asyncio.sleep(0.1)
        check.cancel()
        with pytest.raises(asyncio.CancelledError):
            await check
        assert client._core._light.admit() is not None

    asyncio.run(run())


def test_a_loop_that_stood_still_takes_the_answer_that_came(serve):
    def act(server, connection, _count):
        while (asked := server.read(connection)) is not None:
            time.sleep(0.05)
            server.reply(connection, answer_for(asked["ip"]))

    async def run():
        server = serve(act)
        async with AsyncClient(server.url, KEY, timeout=0.5, cache_seconds=0) as client:
            check = asyncio.ensure_future(client.check("192.0.2.1"))
            while not server.requests:
                await asyncio.sleep(0.001)
            time.sleep(0.7)
            return await check

    assert asyncio.run(run()).ok


def test_a_resolver_that_hangs_holds_no_check_and_one_thread(monkeypatch):
    release = threading.Event()

    def hang(*_args, **_named):
        release.wait(10)
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    client = Client("http://iprisk.invalid", KEY, timeout=0.05, circuit_failures=1000)
    assert {client.check("192.0.2.1").reason for _ in range(5)} == {"timeout"}
    assert [one.name for one in threading.enumerate()].count("iprisk-name") == 1
    release.set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
def test_a_forked_child_has_connections_locks_and_counts_of_its_own(serve):
    server = serve(answering)
    client = Client(server.url, KEY, timeout=5, cache_seconds=0)
    client.check("192.0.2.1")
    # As if another thread held them at the moment of the fork.
    locks = [client._connections._lock, client._core.log._lock, client._outcomes._changed]
    for lock in locks:
        lock.acquire()
    child = os.fork()
    if child == 0:
        is_right = client.check("192.0.2.2").ok and client.counts()["checked"] == 1
        os._exit(0 if is_right else 1)
    for lock in locks:
        lock.release()
    assert os.waitpid(child, 0)[1] == 0
    assert client.check("192.0.2.3").ok
    assert server.connections == 2


# TLS, whose handshake is within the deadline.


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"]
    command += ["subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def test_tls(serve, new, certificate):
    def act(server, connection, count):
        with certificate.wrap_socket(connection, server_side=True) as secure:
            answering(server, secure, count)

    server = serve(act)
    client = new(f"https://localhost:{server.port}", cache_seconds=0)
    assert client.check("192.0.2.1").ok and client.check("192.0.2.2").ok
    assert server.connections == 1
    assert client.counts()["retried"] == 0
    # The certificate is for another name.
    assert new(f"https://127.0.0.1:{server.port}").check("192.0.2.1").reason == "unavailable"


def test_a_tls_handshake_that_drips_ends_at_the_deadline(serve, new, certificate):
    def act(_server, connection, _count):
        connection.recv(65536)
        # A record of a server hello, whose bytes come one by one.
        for byte in b"\x16\x03\x03\x10\x00\x02" + b"\x00" * 60:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    client = new(f"https://localhost:{serve(act).port}", timeout=0.2)
    begun = time.monotonic()
    assert client.check("192.0.2.1").reason == "timeout"
    assert time.monotonic() - begun < 1.5


# Outcomes.


def test_outcomes_go_in_batches_in_the_background(serve, new):
    server = serve(answering)
    client = new(server.url)
    at = datetime.datetime(2026, 11, 27, 14, 0, tzinfo=datetime.timezone.utc)
    assert client.report("192.0.2.1", "abusive", at=at, note="stuffing")
    for n in range(1500):
        assert client.report(f"192.0.{n >> 8}.{n & 255}", "legitimate")
    wait_for(lambda: client.counts()["reported"] == 1501)
    head, first = server.requests[0]
    assert head.startswith("POST /v1/intelligence/ip-risk/feedback HTTP/1.1")
    assert [len(body["outcomes"]) for _, body in server.requests] == [1000, 501]
    assert first["outcomes"][0] == {
        "ip": "192.0.2.1",
        "outcome": "abusive",
        "at": "2026-11-27T14:00:00.000Z",
        "note": "stuffing",
    }
    assert client.counts()["lost"] == 0


@pytest.mark.parametrize(
    "terms",
    [
        {"ip": "no"},
        {"outcome": "bad"},
        {"note": "é" * 101},
        {"at": "2026-11-27"},
    ],
)
def test_a_wrong_outcome_is_lost_alone_and_counted(new, terms):
    told = []
    client = new("http://127.0.0.1:1", on_misconfigured=told.append)
    assert not client.report(**{"ip": "192.0.2.1", "outcome": "abusive", **terms})
    assert client.counts()["lost"] == 1 and told[0].message.startswith("report: ")


def test_outcomes_that_an_outage_refuses_are_sent_again(serve, caplog):
    def act(server, connection, _count):
        while (asked := server.read(connection)) is not None:
            is_first = len(server.requests) == 1
            server.reply(connection, {"accepted": len(asked["outcomes"])}, 503 if is_first else 202)

    client = Client(serve(act).url, KEY)
    with caplog.at_level(logging.WARNING, "iprisk"):
        client.report("192.0.2.1", "abusive")
        wait_for(lambda: client.counts()["reported"] == 1)
        client.close()
    assert client.counts()["lost"] == 0
    assert [record.getMessage() for record in caplog.records] == [
        'iprisk does not accept reports; 0 outcomes were lost: "The server answered with status 503."',
        "iprisk answers again; 0 outcomes were lost",
    ]


def test_the_outcome_that_the_server_refuses_is_lost_without_the_others(serve):
    def act(server, connection, _count):
        while (asked := server.read(connection)) is not None:
            ips = [row["ip"] for row in asked["outcomes"]]
            if "192.0.2.2" in ips:
                at = ips.index("192.0.2.2")
                error = {"code": "invalid_input", "message": "x", "param": f"outcomes[{at}].ip"}
                server.reply(connection, {"error": error}, 400)
            else:
                server.reply(connection, {"accepted": len(ips)}, 202)

    client = Client(serve(act).url, KEY, on_misconfigured=lambda _: None)
    for n in (1, 2, 3):
        client.report(f"192.0.2.{n}", "abusive")
    client.close()
    assert (client.counts()["reported"], client.counts()["lost"]) == (2, 1)


def test_outcomes_beyond_the_queue_and_at_the_end_are_lost_and_counted():
    told = []
    client = Client("http://127.0.0.1:1", KEY, on_unavailable=told.append)
    sent = [client.report("192.0.2.1", "abusive") for _ in range(12_500)]
    client.close()
    counts = client.counts()
    assert counts["reported"] == 0 and counts["lost"] == 12_500
    assert sent.count(False) >= 500 and told


# The end of a process, logs and secrets.

PROGRAM = """
import sys, threading, time
sys.path.insert(0, sys.argv[2])
from iprisk import Client
client = Client(sys.argv[1], "irk_secret", timeout=30, batch_timeout=30)
client.report("192.0.2.1", "abusive")
threading.Thread(target=client.check, args=("192.0.2.1",), daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.parametrize("answers", [True, False])
def test_a_process_ends_and_sends_its_outcomes_first(serve, answers):
    def act(server, connection, _count):
        while (asked := server.read(connection)) is not None:
            if "outcomes" in asked and answers:
                server.reply(connection, {"accepted": 1}, 202)

    server = serve(act)
    command = [sys.executable, "-c", PROGRAM, server.url, str(ROOT / "src/client-python")]
    done = subprocess.run(command, capture_output=True, timeout=25, text=True, check=True)
    assert "Error" not in done.stderr
    assert any("outcomes" in body for _, body in server.requests)


def test_the_log_has_a_line_at_once_then_once_a_minute_and_at_the_end(caplog):
    now = [0.0]
    log = FailureLog(None, None, lambda: now[0])
    failure = Failure("unavailable", "gone\nERROR forged")
    with caplog.at_level(logging.WARNING, "iprisk"):
        for at in (0, 1, 59, 61):
            now[0] = at
            log.fail(failure)
        log.answered()
        log.answered()
        log.fail(Failure("misconfigured", "wrong", code="unauthorized"))
        log.answered()
    assert [record.getMessage() for record in caplog.records] == [
        r'iprisk is unavailable; 1 request was not checked: "gone\nERROR forged"',
        r'iprisk is unavailable; 4 requests were not checked in 61 s: "gone\nERROR forged"',
        "iprisk answers again; 4 requests were not checked in 61 s",
        'iprisk is misconfigured; 1 request was not checked: "unauthorized wrong"',
    ]


def test_a_hook_that_raises_does_not_become_the_logins_problem(new):
    def broken(_failure):
        raise RuntimeError

    client = new("http://127.0.0.1:1", on_unavailable=broken)
    assert client.check("192.0.2.1").reason == "unavailable"


@pytest.mark.parametrize(
    "options",
    [
        {"url": "ftp://a"},
        {"url": "http://u:p@a"},
        {"url": "http://a?b"},
        {"url": "http://a/b c"},
        {"url": "http://a\r\nX: y"},
        {"url": "http://[::1"},
        {"url": "http://a:99999"},
        {"url": None},
        {"key": "irk_secret with space"},
        {"key": "irk_secret\r\n"},
        {"key": ""},
        {"timeout": 0},
        {"timeout": "irk"},
        {"cache_max": -1},
        {"circuit_failures": 0},
        {"on_unavailable": "print"},
        {"fallback": {"never": "allow"}},
        {"fallback": {"timeout": ""}},
    ],
)
def test_mistakes_in_options_raise_and_do_not_repeat_the_key(options):
    with pytest.raises(ValueError) as caught:
        Client(**{"url": "http://127.0.0.1:1", "key": KEY, **options})
    assert KEY not in str(caught.value)


def test_the_key_is_in_no_text(new, caplog):
    told = []
    client = new("http://127.0.0.1:1", on_unavailable=told.append)
    client.check("192.0.2.1")
    texts = [repr(client), repr(client._settings), repr(vars(client)), repr(told), caplog.text]
    assert KEY not in json.dumps(texts)
    with pytest.raises(TypeError):
        pickle.dumps(client if isinstance(client, Client) else client.client)


@pytest.mark.parametrize("trust", [-1, True, None, "10.0.0.0/33", "x", "1.2.3.4/08", "1.2.3.4/", [5]])
def test_wrong_trust(trust):
    with pytest.raises(ValueError):
        client_address("203.0.113.7", {}, trust=trust)
