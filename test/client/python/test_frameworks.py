"""The middlewares in their frameworks, the fake clients, and what a wrong ``trust`` is reported as."""

import asyncio
import re

import fastapi
import flask as flask_module
import httpx
import pytest
from conftest import ROOT, answering
from django.conf import settings
from django.http import HttpResponse
from django.test import RequestFactory
from fastapi.responses import PlainTextResponse
from iprisk import AsyncClient
from iprisk._address.proxies import walk_proxies
from iprisk._address.trust_mistake import trust_mistake
from iprisk.middleware import AsgiMiddleware, _asgi_path, _wsgi_path, django, flask
from iprisk.testing import AsyncFakeClient, FakeClient

BLOCKED, CHALLENGED = "203.0.113.7", "203.0.113.8"
ACTIONS = {BLOCKED: "block", CHALLENGED: "challenge"}


def from_address(ip):
    return {"X-Forwarded-For": f"198.51.100.1, {ip}"}


def with_handlers(options, handler):
    """``challenge`` is a text here, of which each framework makes a response of its own."""
    given = {name: handler(said) for name, said in options.items() if name == "challenge"}
    return {**options, **given}


class Asynchronous(AsyncFakeClient):
    """``fake`` for what needs an AsyncClient."""

    def __init__(self, fake):
        super().__init__()
        self._fake = fake

    async def check(self, ip, **terms):
        return self._fake.check(ip, **terms)


def in_flask(fake, **options):
    app = flask_module.Flask("test")
    flask(app, fake, **with_handlers(options, lambda said: lambda: said))
    app.add_url_rule("/login", "login", lambda: flask_module.g.iprisk.action)
    app.add_url_rule("/logins", "logins", lambda: "open")
    browser = app.test_client()

    def ask(path, headers):
        response = browser.get(path, headers=headers)
        return response.status_code, response.text

    return ask


def in_django(fake, **options):
    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"])
    options = with_handlers(options, lambda said: lambda _request: HttpResponse(said))

    def view(request):
        return HttpResponse(request.iprisk.action if request.path == "/login" else "open")

    handle = django(fake, **options)(view)

    def ask(path, headers):
        meta = {"HTTP_" + name.upper().replace("-", "_"): text for name, text in headers.items()}
        response = handle(RequestFactory().get(path, **meta))
        return response.status_code, response.content.decode()

    return ask


def in_fastapi(fake, **options):
    app = fastapi.FastAPI()
    options = with_handlers(options, PlainTextResponse)
    app.add_middleware(AsgiMiddleware, client=Asynchronous(fake), **options)

    @app.get("/login", response_class=PlainTextResponse)
    def login(request: fastapi.Request):
        return request.state.iprisk.action

    @app.get("/logins", response_class=PlainTextResponse)
    def logins():
        return "open"

    def ask(path, headers):
        async def run():
            transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://a") as browser:
                response = await browser.get(path, headers=headers)
                return response.status_code, response.text

        return asyncio.run(run())

    return ask


@pytest.fixture(params=[in_flask, in_django, in_fastapi])
def framework(request):
    return request.param


def test_what_is_not_allowed_is_stopped(framework):
    fake = FakeClient(ACTIONS)
    ask = framework(fake, trust=1, path="/login", policy="login")
    for ip, word in ACTIONS.items():
        status, text = ask("/login", from_address(ip))
        assert status == 403 and f'"action": "{word}"' in text
    assert ask("/login", from_address("203.0.113.9")) == (200, "allow")
    assert ask("/logins", from_address(BLOCKED)) == (200, "open")
    assert fake.asked == [BLOCKED, CHALLENGED, "203.0.113.9"]


def test_responses_of_the_applications_own(framework):
    ask = framework(FakeClient({**ACTIONS, "203.0.113.9": "odd"}), trust=1, challenge="code")
    assert ask("/login", from_address(CHALLENGED)) == (200, "code")
    # A word that nothing is said of is a challenge.
    assert ask("/login", from_address("203.0.113.9")) == (200, "code")
    assert ask("/login", from_address(BLOCKED))[0] == 403


def test_observe_stops_nobody(framework):
    judged = []
    ask = framework(FakeClient(ACTIONS), trust=1, observe=True, log=judged.append)
    assert ask("/login", from_address(BLOCKED)) == (200, "block")
    assert [(one.action, one.address, one.observed) for one in judged] == [("block", BLOCKED, True)]


def test_visitors_cannot_spend_the_rate_to_get_in(framework):
    fake = FakeClient({BLOCKED: "limited"})
    assert framework(fake, trust=1)("/login", from_address(BLOCKED)) == (200, "allow")
    assert framework(fake, trust=1, challenge="code")("/login", from_address(BLOCKED)) == (200, "code")


def test_a_wrong_trust_is_reported(framework):
    fake = FakeClient(ACTIONS)
    assert framework(fake)("/login", from_address(BLOCKED)) == (200, "allow")
    # The proxy's address, and then the mistake.
    assert fake.asked == ["127.0.0.1", ""]


class Told(FakeClient):
    """Keeps what each check was told."""

    def __init__(self):
        super().__init__(ACTIONS)
        self.terms = []

    def check(self, ip, **terms):
        self.terms.append(terms)
        return super().check(ip, **terms)


LAST = {"ip": "192.0.2.1", "at": "2026-08-22T10:00:00Z"}


def raising(_request):
    raise LookupError("no such user")


@pytest.mark.parametrize(
    ("previous", "sent"),
    [(lambda _request: LAST, LAST), (lambda _request: None, "none"), (raising, {})],
)
def test_the_previous_login_is_sent_and_no_mistake_in_it_fails_a_check(framework, previous, sent):
    fake = Told()
    ask = framework(fake, trust=1, previous=previous)
    assert ask("/login", from_address("203.0.113.9")) == (200, "allow")
    assert ask("/login", from_address(BLOCKED))[0] == 403
    assert [terms.get("previous", "none") for terms in fake.terms] == [sent, sent]
    assert all("agent" not in terms for terms in fake.terms)


async def late(_request):
    await asyncio.sleep(60)


async def last(_scope):
    return LAST


async def ended(_scope):
    raise asyncio.CancelledError


@pytest.mark.parametrize(("previous", "sent"), [(last, LAST), (late, {}), (ended, {})])
def test_a_coroutine_for_the_previous_login_is_awaited_for_a_moment(previous, sent):
    fake = Told()
    ask = in_fastapi(fake, trust=1, previous=previous)
    assert ask("/login", from_address(BLOCKED))[0] == 403
    assert [terms["previous"] for terms in fake.terms] == [sent]


def test_what_tells_an_agent_is_sent(framework):
    fake = Told()
    ask = framework(fake, trust=1, agents=True)
    names = {"User-Agent": "Mozilla/5.0", "Host": "shop.example", **from_address("203.0.113.9")}
    signed = {"Signature": "sig1=:AA==:", "Signature-Input": 'sig1=("@authority")'}
    ask("/login", {**names, "User-Agent": "x" * 2000})
    ask("/login?next=%2Fa%20b&x", {**names, **signed})
    assert [terms["agent"] for terms in fake.terms] == [
        {"user_agent": "x" * 1024},
        {
            "user_agent": "Mozilla/5.0",
            "signature": {
                "method": "GET",
                "scheme": "https",
                "authority": "shop.example",
                "path": "/login?next=%2Fa%20b&x",
                "headers": {
                    "signature": "sig1=:AA==:",
                    "signature-input": 'sig1=("@authority")',
                    "signature-agent": "",
                },
            },
        },
    ]
    assert all("previous" not in terms for terms in fake.terms)


BARE = {"wsgi.url_scheme": "http", "HTTP_HOST": "shop.example", "SCRIPT_NAME": ""}


@pytest.mark.parametrize(
    ("path", "of"),
    [
        (_wsgi_path, {**BARE, "PATH_INFO": "/a b", "QUERY_STRING": "x=%20"}),
        (_wsgi_path, {**BARE, "PATH_INFO": "/other", "RAW_URI": "http://shop.example/a%20b?x=%20"}),
        (_wsgi_path, {**BARE, "PATH_INFO": "/other", "REQUEST_URI": "/a%20b?x=%20"}),
        (_asgi_path, {"path": "/a b", "query_string": b"x=%20"}),
        (_asgi_path, {"path": "/a b", "raw_path": b"/a%20b?x=%20", "query_string": b"x=%20"}),
    ],
)
def test_the_path_of_a_signature_is_the_one_that_was_sent(path, of):
    assert path(of) == "/a%20b?x=%20"


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: django(FakeClient(), **options),
        lambda **options: AsgiMiddleware(None, AsyncFakeClient(), **options),
    ],
)
@pytest.mark.parametrize(
    "options", [{"trust": "nowhere"}, {"header": "x-ip"}, {"policy": ""}, {"previous": LAST}]
)
def test_mistakes_raise_at_the_start(make, options):
    with pytest.raises(ValueError):
        make(**options)


def test_a_client_for_threads_does_not_hold_an_event_loop():
    with pytest.raises(ValueError, match="AsyncClient"):
        AsgiMiddleware(None, FakeClient())


def test_a_real_async_client_in_a_framework(serve):
    async def run():
        sent = []

        async def send(message):
            sent.append(message.get("status"))

        async with AsyncClient(serve(answering).url, "irk_x", timeout=5) as client:
            wrapped = AsgiMiddleware(None, client, trust=1)
            lines = [(b"x-forwarded-for", b"198.51.100.1"), (b"X-Forwarded-For", b"203.0.113.7")]
            scope = {"type": "http", "path": "/", "client": ("127.0.0.1", 5), "headers": lines}
            await wrapped(scope, None, send)
        return sent, scope["state"]["iprisk"].address

    assert asyncio.run(run()) == ([403, None], "203.0.113.7")


def mistake_of(peer, headers, trust=0, header="x-forwarded-for"):
    walk = walk_proxies(peer, headers, trust=trust, header=header)
    return trust_mistake(peer, headers, walk, trust=trust, header=header)


XFF = {"x-forwarded-for": BLOCKED}


@pytest.mark.parametrize(
    ("peer", "headers", "options", "says"),
    [
        ("127.0.0.1", XFF, {}, "trust is not set, but the proxy 127.0.0.1 sends"),
        ("::ffff:10.0.0.1", XFF, {}, "probably trust=1"),
        ("10.0.0.1", {"x-forwarded-for": f"{BLOCKED}, 10.0.0.5"}, {"trust": 1}, "probably trust=2"),
        ("172.17.0.1", XFF, {"trust": "loopback"}, 'add "private"'),
        ("10.0.0.1", XFF, {"trust": 1, "header": "x-real-ip"}, 'header="x-forwarded-for"'),
        ("127.0.0.1", {"x-client-ip": BLOCKED}, {"trust": 1}, "configure the proxy to write"),
        ("10.0.0.1", {"x-forwarded-for": "hidden"}, {"trust": 1}, "that is not an address"),
        (None, {}, {}, "as over a Unix socket"),
        ("", {}, {"trust": 1}, "as over a Unix socket"),
    ],
)
def test_a_mistake(peer, headers, options, says):
    assert says in mistake_of(peer, headers, **options)


@pytest.mark.parametrize(
    ("peer", "headers", "options"),
    [
        ("203.0.113.1", XFF, {}),
        ("127.0.0.1", {}, {}),
        ("127.0.0.1", XFF, {"trust": 1}),
        ("10.0.0.1", {"x-forwarded-for": "10.0.0.2"}, {"trust": 1}),
        (None, XFF, {"trust": 1}),
    ],
)
def test_no_mistake(peer, headers, options):
    assert mistake_of(peer, headers, **options) is None


def test_the_fake_client():
    told = []
    fake = FakeClient(
        {"192.0.2.1": "block", "192.0.2.2": "timeout", "192.0.2.4": {"risk_score": 90}},
        fallback={"timeout": "challenge"},
        on_unavailable=told.append,
    )
    assert [fake.check(f"192.0.2.{n}").action for n in (1, 2, 3)] == ["block", "challenge", "allow"]
    scored = fake.check("192.0.2.4")
    assert scored.answer["risk_score"] == 90 and scored.action is None
    assert fake.check("x").reason == "invalid_address"
    assert fake.report("192.0.2.1", "abusive") and fake.reported == [("192.0.2.1", "abusive")]
    assert fake.counts()["checked"] == 3 and fake.counts()["timeout"] == 1 and len(told) == 1


def test_the_version_is_that_of_the_change_log():
    version = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    package = (ROOT / "src/client-python/pyproject.toml").read_text("utf-8")
    assert f'version = "{version.group(1)}"' in package
