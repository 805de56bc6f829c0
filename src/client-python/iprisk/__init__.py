"""Client of iprisk. No check raises: ``Client(url=…, key=…).check(ip)`` returns a result with ``ok``,
``answer``, ``decision``, ``reason`` and ``action``."""

from ._client import AsyncClient, Client
from ._address.proxies import client_address
from ._results import Checked, CheckResult, Failure, Unchecked

__all__ = [
    "AsyncClient",
    "CheckResult",
    "Checked",
    "Client",
    "Failure",
    "Unchecked",
    "client_address",
]
