"""The package as it stands in the source, and servers in place of the API."""

import json
import re
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "src/client-python"))


def vectors(name):
    """What every client must do alike; test/client/core/client-vectors.test.ts reads them, too."""
    rows = json.loads((ROOT / f"test/client/vectors/{name}.json").read_text("utf-8"))
    return [pytest.param(row, id=row["claim"]) for row in rows]


def answer_for(ip, **more):
    return {"ip": ip, "classification": "clean", "risk_score": 3, "table": "table-1", **more}


class Server:
    """Hands each connection, and how many came before it, to ``act(server, connection, count)``."""

    def __init__(self, act):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests = []
        self.connections = 0
        self.ended = 0
        self._act = act
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            count, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self._run, args=(connection, count), daemon=True).start()

    def _run(self, connection, count):
        try:
            with connection:
                self._act(self, connection, count)
        except OSError:
            pass
        self.ended += 1

    def read(self, connection):
        """The body of one request; None at the end."""
        data = b""
        while b"\r\n\r\n" not in data:
            some = connection.recv(65536)
            if not some:
                return None
            data += some
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head.lower()).group(1))
        while len(body) < length:
            some = connection.recv(65536)
            if not some:
                return None
            body += some
        self.requests.append((head.decode(), json.loads(body)))
        return json.loads(body)

    def reply(self, connection, body, status=200):
        connection.sendall(reply_bytes(body, status))

    def close(self):
        self.listener.close()


def reply_bytes(body, status=200):
    text = json.dumps(body).encode()
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text


def answering(server, connection, _count):
    """The API: decides ``block`` for all, and knows a prefix around 203.0.113.0."""
    while (asked := server.read(connection)) is not None:
        if "ips" in asked:
            server.reply(connection, {"results": [answer_for(ip) for ip in asked["ips"]]})
        elif "outcomes" in asked:
            server.reply(connection, {"accepted": len(asked["outcomes"])}, 202)
        else:
            decision = {"action": "block", "rule": "r", "policy": asked.get("policy", "default")}
            prefix = "203.0.113.0/24" if asked["ip"].startswith("203.0.113.") else None
            server.reply(connection, answer_for(asked["ip"], decision=decision, prefix=prefix))


def play(scripts):
    """Each connection does the steps of its script (test/client/vectors/deadlines.json)."""

    def act(server, connection, count):
        asked = None
        for step in scripts[min(count, len(scripts) - 1)]:
            if step == "read":
                asked = server.read(connection)
                if asked is None:
                    return
            elif step == "@answer":
                server.reply(connection, answer_for(asked["ip"]))
            elif "wait" in step:
                time.sleep(step["wait"] / 1000)
            elif "send" in step:
                connection.sendall(step["send"].encode())
            else:
                drip = step["drip"].encode()
                if step["drip"] == "@answer":
                    drip = reply_bytes(answer_for(asked["ip"]))
                size = -(-len(drip) // step["pieces"])
                for at in range(0, len(drip), size):
                    connection.sendall(drip[at : at + size])
                    time.sleep(step["everyMs"] / 1000)

    return act


def wait_for(happened):
    until = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Outcomes wait for others for a shorter time."""
    monkeypatch.setattr("iprisk._outcomes._GATHER_SECONDS", 0.05)


@pytest.fixture
def serve():
    servers = []

    def start(act):
        servers.append(Server(act))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
