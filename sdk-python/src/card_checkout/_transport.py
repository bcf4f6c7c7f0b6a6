"""One request, with its retries. Redirects are not followed, and an answer is read up to a limit."""

from __future__ import annotations

import copy
import http.client
import json
import random
import re
import time
import urllib.error
import urllib.request
from decimal import Decimal
from typing import Any, Callable, Dict, Mapping, Optional
from urllib.parse import urlsplit

from ._errors import ApiConnectionError, ApiError, ArgumentError, is_temporary_status

#: The version of this package, which the service's log shows.
VERSION = "0.2.0"
#: An answer of the service has at most a few hundred kilobytes: a page of events.
MAXIMUM_ANSWER_BYTES = 1_048_576
_CHUNK_BYTES = 65_536
#: Far above an amount, and short enough to write out.
_MAXIMUM_DIGITS = 30
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """urllib would send the API key to the target of a redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    """What all requests of a client share."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout: float,
        maximum_retries: int,
        maximum_pause: float,
        wait: Callable[[float], None],
        allow_insecure_http: bool = False,
    ) -> None:
        # Without the check, the error of http.client for a header that it refuses would quote the key.
        if not isinstance(api_key, str) or re.fullmatch(r"service_live_[A-Za-z0-9_-]+", api_key) is None:
            raise ArgumentError("api_key", "must be the whole key, which begins with service_live_, and nothing else")
        self._api_key = api_key
        self._base_url, is_loopback = _check_base_url(base_url, allow_insecure_http)
        # A proxy of the environment must not see a key that travels without encryption.
        proxies = [urllib.request.ProxyHandler({})] if is_loopback else []
        self._opener = urllib.request.build_opener(_NoRedirects, *proxies)
        self._timeout = timeout
        self._maximum_retries = maximum_retries
        self._maximum_pause = maximum_pause
        self._wait = wait

    def with_options(self, timeout: Optional[float], maximum_retries: Optional[int]) -> Transport:
        """The same with another timeout or number of retries; None keeps it."""
        changed = copy.copy(self)
        changed._timeout = self._timeout if timeout is None else timeout
        changed._maximum_retries = self._maximum_retries if maximum_retries is None else maximum_retries
        return changed

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
        body: Optional[object] = None,
        once: bool = False,
    ) -> Dict[str, Any]:
        """Sends the request, again after a temporary status and no answer. ``once`` is for what a repetition would
        find done, and the service refuse."""
        transport = self.with_options(None, 0) if once else self
        answer = parse_object(transport.send_for_bytes(method, path, headers=headers, body=body))
        if answer is None:
            raise ApiConnectionError("the answer is not JSON: is base_url the root of the service?")
        return answer

    def send_for_bytes(
        self,
        method: str,
        path: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
        body: Optional[object] = None,
        limit: int = MAXIMUM_ANSWER_BYTES,
    ) -> bytes:
        data = None if body is None else json.dumps(body, default=_encode, allow_nan=False).encode()
        retry = 0
        while True:
            try:
                return self._attempt(method, path, headers or {}, data, limit)
            except (ApiError, ApiConnectionError) as error:
                pause = self._pause_before(error, retry) if retry < self._maximum_retries else None
                if pause is None:
                    raise
                self._wait(pause)
                retry += 1

    def _pause_before(self, error: Exception, retry: int) -> Optional[float]:
        """Seconds until the next attempt; None when there must be none."""
        if isinstance(error, ApiError):
            if not is_temporary_status(error.status):
                return None
            if error.retry_after is not None:
                if error.retry_after > self._maximum_pause:
                    return None
                # Never less than asked; the random part spreads many clients.
                return error.retry_after + random.random()
        steep: float = min(0.5 * 2**retry, self._maximum_pause)
        return steep / 2 + random.random() * steep / 2

    def _attempt(
        self, method: str, path: str, headers: Mapping[str, str], data: Optional[bytes], limit: int
    ) -> bytes:
        request = urllib.request.Request(
            self._base_url + path,
            data=data,
            method=method,
            headers={
                "X-API-Key": self._api_key,
                "User-Agent": f"card-checkout-python/{VERSION}",
                "Accept": "application/json, text/csv",
                **headers,
            },
        )
        if data is not None:
            request.add_header("Content-Type", "application/json")
        deadline = time.monotonic() + self._timeout
        try:
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    status, answer_headers = response.status, response.headers
                    text = _read(response, limit, deadline)
            except urllib.error.HTTPError as error:
                with error:
                    status, answer_headers = error.code, error.headers
                    text = _read(error, limit, deadline)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ApiConnectionError(f"{method} {path.split('?')[0]}: no answer within {self._timeout} s") from error
        if status == 200:
            return text
        raise _error_of(status, answer_headers, text)


def text_of(amount: Decimal) -> str:
    """A decimal number without an exponent, and without zeros after the second decimal."""
    if not amount.is_finite() or abs(amount.adjusted()) > _MAXIMUM_DIGITS:
        raise ArgumentError("amount", "must be a finite number")
    return re.sub(r"(\.\d\d\d*?)0+$", r"\1", format(amount, "f"))


def _encode(value: object) -> str:
    if isinstance(value, Decimal):
        return text_of(value)
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _read(response: Any, limit: int, deadline: float) -> bytes:
    """The body, up to a limit of bytes and of time: each read has a timeout, and many short reads have this one."""
    text = bytearray()
    while True:
        chunk = response.read1(_CHUNK_BYTES) if hasattr(response, "read1") else response.read(_CHUNK_BYTES)
        if not chunk:
            if getattr(response, "length", 0):
                raise http.client.IncompleteRead(bytes(text))
            return bytes(text)
        text += chunk
        if len(text) > limit:
            raise ApiConnectionError("the answer is too large to be one of the service")
        if time.monotonic() > deadline:
            raise ApiConnectionError("the answer took too long")


def _error_of(status: int, headers: Any, text: bytes) -> ApiError:
    body = parse_object(text) or {}
    message, code = body.get("error"), body.get("code")
    retry_after = headers.get("Retry-After")
    return ApiError(
        message if isinstance(message, str) else f"the service answered {status}",
        status=status,
        code=code if isinstance(code, str) else None,
        retry_after=int(retry_after) if re.fullmatch(r"[0-9]{1,9}", retry_after or "") else None,
        request_id=headers.get("X-Request-Id"),
    )


def parse_object(text: bytes) -> Optional[Dict[str, Any]]:
    """A JSON object in UTF-8, or None."""
    try:
        value = json.loads(text.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _check_base_url(base_url: str, is_http_allowed: bool) -> "tuple[str, bool]":
    """Without a slash at the end, and whether it is this machine."""
    try:
        url = urlsplit(base_url if isinstance(base_url, str) else "")
        host, _ = url.hostname or "", url.port
    except ValueError:
        host = ""
    if host == "" or url.query or url.fragment or "@" in url.netloc or not re.fullmatch(r"[!-~]+", base_url):
        raise ArgumentError("base_url", "must be the root of the service, such as https://pay.example.com")
    is_loopback = _LOOPBACK.fullmatch(host) is not None
    if url.scheme != "https" and not (url.scheme == "http" and (is_loopback or is_http_allowed)):
        raise ArgumentError(
            "base_url", "must begin with https://, or set allow_insecure_http: the API key is readable on the way"
        )
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}", is_loopback
