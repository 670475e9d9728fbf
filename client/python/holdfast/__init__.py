"""Holdfast for a merchant's backend: Python 3.9 and newer, nothing but the standard library. It can be installed, and
copied as the one file that it is.

    holdfast = Holdfast("http://127.0.0.1:8080", os.environ["HOLDFAST_API_KEY"])
    hold = holdfast.create_hold(tokenId="tok_…", amount=1000, currency="EUR", terminalId="till-1", userId="u")
    if hold["outcome"] == "done":
        holdfast.capture_hold(preauthorizationId=hold["preauthorizationId"], amountToCapture=400)

A write is done at most once, however often it is sent; what cannot be known is answered with outcome "unknown", never
raised as a failure. docs/clients.md describes the promise; client/ has the same in TypeScript.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import io
import json
import random
import re
import socket
import time
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

__all__ = ["Holdfast", "HoldfastError", "InvalidNotification", "InvalidSecret", "verify"]
__version__ = "1.0.0"

# What the service answers: the fields of docs/product.md, and later ones.
Answer = Dict[str, Any]


class HoldfastError(Exception):
    """A call that is refused or failed. Nothing was done, unless request_id names an operation that is recorded as KO.

    code: the service's, also one that this version does not know; NO_ANSWER; or NOT_HOLDFAST: something else answered,
    such as a proxy.
    """

    def __init__(self, code: str, message: str, status: int = 0, problem: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.status = status
        self.problem: Mapping[str, Any] = problem or {}
        self.request_id: Optional[str] = self.problem.get("requestId")


class InvalidNotification(Exception):
    """A request that is no genuine notification: answer it with 401, and do nothing else.

    reason: NO_SECRET, WRONG_SECRET, PARSED_BODY, STALE, MISSING_HEADER, MALFORMED_HEADER or CHANGED_BODY
    (docs/clients.md says what to mend). For your log, not for the sender.
    """

    def __init__(self, message: str = "", reason: str = "WRONG_SECRET") -> None:
        super().__init__(message)
        self.reason = reason


class InvalidSecret(ValueError):
    """A signing secret that is none, such as the text of an environment variable that is not set. Anybody can sign with
    an empty key, so nothing is verified with one."""


# Core stores nothing of a call later than this (docs/product.md, "What an answer promises").
STORED_WITHIN_S = 30.0
# The service answers sooner, by 202 if need be.
ANSWER_WITHIN_S = 40.0
# A stream is never silent for this long.
SILENT_S = 45.0
# A shorter try would only make an outcome unknown that is known: nothing was done.
SHORTEST_TRY_S = 0.5
# Bytes. Several times as much as a page of 200 items with all the metadata that they may have.
LONGEST_ANSWER = 32 * 2**20
# Bytes of a line of a stream. The service's are a tenth as long.
LONGEST_LINE = 4 * 2**20


_CAPTURE = "/preauthorization/authorization"


class Holdfast:
    """The merchant's routes. Every method raises HoldfastError when the call is refused. An object may be shared by
    threads."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        on_request: Optional[Callable[[Dict[str, Any]], object]] = None,
        sign_captures: Optional[Tuple[str, Callable[[bytes], bytes]]] = None,
    ) -> None:
        """on_request: called with a dict about each try (method, path, status, try, code, requestId); never with a
        secret.

        sign_captures: for merchants whose contract demands signed captures: (merchant_id, sign), where sign(bytes)
        returns the 64 bytes of their Ed25519 signature. The standard library has no Ed25519; with the package
        cryptography, sign is the method of a private key. Raises ValueError for what cannot be an address or an API
        key.
        """
        url = urllib.parse.urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError(f"base_url {base_url} is no address: write it such as https://pay.example")
        if not api_key or any(not "!" <= character <= "~" for character in api_key):
            raise ValueError("api_key is empty, or has characters that no API key has")
        self._host = url.hostname
        self._port = url.port or (443 if url.scheme == "https" else 80)
        self._connection: Type[_Http] = _Https if url.scheme == "https" else _Http
        self._address = url.geturl()
        self._prefix = url.path.rstrip("/")
        self._api_key = api_key
        self._on_request = on_request
        self._sign_captures = sign_captures

    # Writes take the fields of the route, and idempotency_key and timeout (seconds with all tries). They return the
    # answer with "outcome": "done", "idempotencyKey" and "replayed"; or, when the time is over, "outcome": "unknown"
    # with "idempotencyKey", "requestId" (None when no answer named it) and "reason": call again with the same key, or
    # ask get_operation().

    def create_hold(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **hold: Any) -> Answer:
        """Places a hold. The customer is to go to checkoutUrl (without tokenId), or to the url of a nextAction."""
        return self._write("/preauthorization", hold, idempotency_key, timeout)

    def capture_hold(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **capture: Any) -> Answer:
        """Charges a hold: preauthorizationId, amountToCapture, finalCapture; currency is refused when it is not the
        hold's. This and other operations take merchantReference, metadata and reason, too."""
        return self._write(_CAPTURE, capture, idempotency_key, timeout)

    def increment_hold(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **increment: Any) -> Answer:
        """Adds `amountToAdd` to a hold."""
        return self._write("/preauthorization/increment", increment, idempotency_key, timeout)

    def extend_hold(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **extension: Any) -> Answer:
        """Lets a hold end later."""
        return self._write("/preauthorization/extend", extension, idempotency_key, timeout)

    def release_hold(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **release: Any) -> Answer:
        """Gives back what remains of a hold, or the part `amountToRelease`: requestId, or preauthorizationId; and
        currency, reason and the like as above."""
        return self._write("/preauthorization/release", release, idempotency_key, timeout)

    def update_hold(self, request_id: str, timeout: float = 60.0, **changes: Any) -> Answer:
        """Changes what a hold is for, or when it is captured or ends by itself; None takes a field back. Returns the
        hold."""
        return self._change("PATCH", _path("/preauthorization", request_id), changes, timeout)

    def create_refund(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **refund: Any) -> Answer:
        """Gives a capture back: captureRequestId, and amount; without it all that is left."""
        return self._write("/refund", refund, idempotency_key, timeout)

    def renew_hold(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **renewal: Any) -> Answer:
        """Places a hold like an earlier one: requestId, or preauthorizationId, and amount if not what remained."""
        return self._write("/preauthorization/renew", renewal, idempotency_key, timeout)

    def create_oct(self, *, idempotency_key: Optional[str] = None, timeout: float = 60.0, **oct_: Any) -> Answer:
        """Pays an amount to a card."""
        return self._write("/oct", oct_, idempotency_key, timeout)

    def get_hold(self, request_id: str, timeout: float = 60.0) -> Answer:
        """Looks up a hold with its newest captures."""
        return self._read(_path("/preauthorization", request_id), timeout)

    def get_refund(self, request_id: str, timeout: float = 60.0) -> Answer:
        return self._read(_path("/refund", request_id), timeout)

    def get_oct(self, request_id: str, timeout: float = 60.0) -> Answer:
        return self._read(_path("/oct", request_id), timeout)

    def get_operation(self, request_id: str, timeout: float = 60.0) -> Answer:
        """Looks up an operation, final or not."""
        return self._read(_path("/operations", request_id), timeout)

    def get_contract(self, timeout: float = 60.0) -> Answer:
        """What this merchant may do."""
        return self._read("/contract", timeout)

    def get_delivery(self, delivery_id: str, timeout: float = 60.0) -> Answer:
        return self._read(_path("/deliveries", delivery_id), timeout)

    def get_webhook_endpoint(self, timeout: float = 60.0) -> Answer:
        return self._read("/webhook-endpoint", timeout)

    # These need an API key that manages the webhook. Once it may have been done, a call is not repeated, unless that does
    # no harm: set_webhook_endpoint(), update_…, delete_… and retire_… are.

    def set_webhook_endpoint(self, webhook_url: Optional[str], timeout: float = 60.0) -> Answer:
        """Sets where notifications go; None = nowhere."""
        return self._change("PUT", "/webhook-endpoint", {"webhookUrl": webhook_url}, timeout)

    def send_test_notification(self, timeout: float = 60.0) -> Answer:
        """Sends a test notification. Returns its delivery."""
        return self._change("POST", "/webhook-endpoint/test", {}, timeout)

    def add_signing_secret(self, timeout: float = 60.0) -> Answer:
        """Adds a second secret; it is shown once."""
        return self._change("POST", "/signing-secrets", {}, timeout)

    def retire_signing_secret(self, signing_secret_id: str, timeout: float = 60.0) -> None:
        """Ends a secret; not the last one."""
        self._change("DELETE", _path("/signing-secrets", signing_secret_id), None, timeout)

    def get_further_endpoint(self, endpoint_id: str, timeout: float = 60.0) -> Answer:
        """Looks up an endpoint by its id, or "default"."""
        return self._read(_path("/webhook-endpoints", endpoint_id), timeout)

    def list_webhook_endpoints(self, timeout: float = 60.0) -> Iterator[Answer]:
        """Iterates over all endpoints, with their health."""
        return self._list("/webhook-endpoints", {}, timeout)

    def create_webhook_endpoint(self, url: str, timeout: float = 60.0, **settings: Any) -> Answer:
        """Adds an endpoint; its signing secret is shown once. Settings: types, description, headers, timeoutSeconds."""
        return self._change("POST", "/webhook-endpoints", {"url": url, **settings}, timeout)

    def update_webhook_endpoint(self, endpoint_id: str, timeout: float = 60.0, **settings: Any) -> Answer:
        """Changes the given settings; None = as if it had not been set."""
        return self._change("PATCH", _path("/webhook-endpoints", endpoint_id), settings, timeout)

    def delete_webhook_endpoint(self, endpoint_id: str, timeout: float = 60.0) -> None:
        """Removes an endpoint. Raises HoldfastError OPERATION_NOT_FOUND once it is removed."""
        self._change("DELETE", _path("/webhook-endpoints", endpoint_id), None, timeout)

    def test_webhook_endpoint(self, endpoint_id: str, timeout: float = 60.0) -> Answer:
        """Sends a test notification to an endpoint. Returns its delivery."""
        return self._change("POST", _path("/webhook-endpoints", endpoint_id) + "/test", {}, timeout)

    def add_endpoint_secret(self, endpoint_id: str, timeout: float = 60.0) -> Answer:
        """Adds a second secret of an endpoint; it is shown once."""
        return self._change("POST", _path("/webhook-endpoints", endpoint_id) + "/signing-secrets", {}, timeout)

    def retire_endpoint_secret(self, endpoint_id: str, signing_secret_id: str, timeout: float = 60.0) -> None:
        """Ends a secret of an endpoint; not its last one."""
        secrets = _path("/webhook-endpoints", endpoint_id) + "/signing-secrets"
        self._change("DELETE", _path(secrets, signing_secret_id), None, timeout)

    def list_relay_senders(self, timeout: float = 60.0) -> Answer:
        """The merchant's other systems whose notifications the relay takes."""
        return self._read("/relay-senders", timeout)

    def get_relay_sender(self, sender_id: str, timeout: float = 60.0) -> Answer:
        """Looks up a sender of the relay."""
        return self._read(_path("/relay-senders", sender_id), timeout)

    def create_relay_sender(self, timeout: float = 60.0, **sender: Any) -> Answer:
        """Adds a sender; its notifications go to /webhook/relay/{senderId}."""
        return self._change("POST", "/relay-senders", sender, timeout)

    def update_relay_sender(self, sender_id: str, timeout: float = 60.0, **sender: Any) -> Answer:
        """Replaces a sender's settings, and its keys when some are given."""
        return self._change("PUT", _path("/relay-senders", sender_id), sender, timeout)

    def delete_relay_sender(self, sender_id: str, timeout: float = 60.0) -> None:
        """Removes a sender; what it has sent stays."""
        self._change("DELETE", _path("/relay-senders", sender_id), None, timeout)

    def list_relay_failures(self, timeout: float = 60.0, **filters: Any) -> Iterator[Answer]:
        """Iterates over what the relay could not verify, newest first; explain says what had to be signed."""
        return self._list("/relay/failures", filters, timeout)

    def replay_delivery(self, delivery_id: str, timeout: float = 60.0) -> Answer:
        """Sends a delivery again."""
        return self._change("POST", _path("/deliveries", delivery_id) + "/replay", {}, timeout)

    def recover_deliveries(self, since: str, timeout: float = 60.0, **until: Any) -> Answer:
        """Makes due at once the undelivered notifications since a time."""
        return self._change("POST", "/deliveries/recover", {"since": since, **until}, timeout)

    def list_holds(self, timeout: float = 60.0, **filters: Any) -> Iterator[Answer]:
        """Iterates over holds, newest first; reads pages as it goes."""
        return self._list("/preauthorization", filters, timeout)

    def list_operations(self, timeout: float = 60.0, **filters: Any) -> Iterator[Answer]:
        """Iterates over final results, newest first."""
        return self._list("/operations", filters, timeout)

    def list_deliveries(self, timeout: float = 60.0, **filters: Any) -> Iterator[Answer]:
        """Iterates over deliveries of notifications, newest first."""
        return self._list("/deliveries", filters, timeout)

    def watch_operations(
        self, after: Optional[str] = None, on_failure: Optional[OnFailure] = None
    ) -> Iterator[Tuple[Optional[str], Answer]]:
        """Iterates over results as they become final, in their order, for ever: yields (id, operation).

        It resumes by itself and skips none; keep the id to resume after a restart. on_failure is called when the stream
        cannot be opened, or broke: with a HoldfastError and the seconds until it is opened again. Raises HoldfastError
        STREAM_TOKEN_TOO_OLD when it cannot resume: list the operations then.
        """
        return self._watch("/operations/stream", after, on_failure)

    def watch_notifications(
        self, after: Optional[str] = None, on_failure: Optional[OnFailure] = None
    ) -> Iterator[Tuple[Optional[str], Answer]]:
        """Iterates over notifications as they would be sent now, for ever: (id, {"path", "headers", "body"}); verify()
        takes them.

        It needs no address for them, and resumes as watch_operations() does.
        """
        return self._watch("/notifications/stream", after, on_failure)

    def watch_relayed_notifications(
        self,
        after: Optional[str] = None,
        on_failure: Optional[OnFailure] = None,
        sender_id: Optional[str] = None,
    ) -> Iterator[Tuple[Optional[str], Answer]]:
        """Iterates over what the relay has verified, in the order in which it was stored, for ever: (id, notification);
        its body is Base64. With sender_id only what that sender has sent. It resumes as watch_operations() does.
        """
        query = "" if sender_id is None else "?" + urllib.parse.urlencode({"senderId": sender_id})
        return self._watch("/relayed-notifications/stream" + query, after, on_failure)

    def _write(self, path: str, body: Answer, key: Optional[str], timeout: float) -> Answer:
        key = key or str(uuid.uuid4())
        end = self._send(_Call("POST", path, body, "KEYED", key), timeout)
        if end.meaning == "UNKNOWN":
            reason = str(end.error)
            return {"outcome": "unknown", "idempotencyKey": key, "requestId": end.request_id, "reason": reason}
        return {**(end.body or {}), "outcome": "done", "idempotencyKey": key, "replayed": end.replayed}

    def _read(self, path: str, timeout: float) -> Answer:
        return self._change("GET", path, None, timeout)

    def _change(self, method: str, path: str, body: Optional[Answer], timeout: float) -> Answer:
        """A call that makes no operation: it may be repeated, unless it is a POST."""
        call = _Call(method, path, body, "ONCE" if method == "POST" else "ALWAYS")
        return self._send(call, timeout).body or {}

    def _list(self, path: str, filters: Mapping[str, Any], timeout: float) -> Iterator[Answer]:
        query = {name: value for name, value in filters.items() if value is not None}
        while True:
            page = self._read(f"{path}?{urllib.parse.urlencode(query)}", timeout)
            yield from page["items"]
            if "nextPageToken" not in page:
                return
            query["pageToken"] = page["nextPageToken"]

    def _send(self, call: _Call, timeout: float) -> _Heard:
        """Sends a call until there is an answer that is final: DONE, or for a write that may have been done UNKNOWN.
        docs/clients.md, "How a client waits", is the same for the client in TypeScript."""
        if not timeout > 0:
            raise ValueError("timeout must be a number of seconds above 0")
        end = time.monotonic() + timeout
        unanswered: Optional[Tuple[float, _Heard]] = None
        request_id, count = None, 0
        while True:
            count += 1
            heard = self._once(call, count, end)
            request_id = heard.request_id or request_id
            now = time.monotonic()
            if heard.meaning == "UNKNOWN":
                unanswered = (now, heard)
            if heard.meaning == "DONE":
                return heard
            # A write without an answer may still be stored for a while; until then a refusal of a later try says nothing
            # about it.
            settled = call.repeatable != "KEYED" or unanswered is None or now - unanswered[0] > STORED_WITHIN_S
            if heard.meaning == "REFUSED" and (settled or heard.error.request_id is not None):
                raise heard.error
            if heard.meaning == "UNKNOWN" and call.repeatable == "ONCE":
                raise heard.error
            pause = _growing(count) if heard.retry_after is None else heard.retry_after + random.random() / 4
            if now + pause + SHORTEST_TRY_S <= end:
                time.sleep(pause)
                if time.monotonic() < end:
                    continue
            if call.repeatable == "KEYED" and unanswered is not None:
                unanswered[1].request_id = request_id
                return unanswered[1]
            raise heard.error

    def _once(self, call: _Call, count: int, end: float) -> _Heard:
        heard = self._ask(call, end)
        if self._on_request is not None:
            report: Dict[str, Any] = {"method": call.method, "path": call.path.split("?")[0], "try": count}
            report["status"] = heard.status
            report["code"] = heard.error.code if heard.status == 0 or heard.status >= 300 else None
            report["requestId"] = heard.request_id
            self._on_request(report)
        return heard

    def _ask(self, call: _Call, end: float) -> _Heard:
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "application/json, application/problem+json"}
        data = None
        if call.body is not None:
            data = json.dumps(call.body).encode()
            headers["Content-Type"] = "application/json"
        if call.key is not None:
            headers["Idempotency-Key"] = call.key
        if data is not None and call.key is not None and call.path == _CAPTURE and self._sign_captures is not None:
            headers.update(_capture_signature(self._sign_captures, data, call.key))
        connection = self._connection(self._host, self._port)
        connection.until = _Until(min(ANSWER_WITHIN_S, end - time.monotonic()))
        sent = False
        try:
            connection.connect()
            sent = True
            connection.request(call.method, self._prefix + call.path, data, headers)
            response = connection.getresponse()
            return _Heard.read(response, _data_of(response), self._address, call.repeatable)
        except (OSError, http.client.HTTPException) as error:
            return _Heard(0, "UNKNOWN" if sent else "AGAIN", error=self._no_answer(error))
        finally:
            connection.close()

    def _no_answer(self, error: Exception) -> HoldfastError:
        hint = "check the address, the network, or repeat the call"
        return HoldfastError("NO_ANSWER", f"no answer from {self._address} ({error!r}): {hint}")

    def _watch(
        self, path: str, after: Optional[str], on_failure: Optional[OnFailure]
    ) -> Iterator[Tuple[Optional[str], Answer]]:
        last, failures = after, 0
        while True:
            failure = HoldfastError("NO_ANSWER", f"{self._address} ended the stream")
            retry_after = None
            connection = self._connection(self._host, self._port)
            connection.until = until = _Until(SILENT_S)
            try:
                response = self._open_stream(connection, path, last)
                refusal = self._refusal_of(response)
                if refusal is not None:
                    failure, retry_after = refusal.error, refusal.retry_after
                for event_id, data in _events(response, until) if refusal is None else ():
                    failures = 0
                    last = event_id or last
                    if data is not None:
                        yield last, json.loads(data)
            except (OSError, http.client.HTTPException) as error:
                # The connection broke, or was silent: it is opened again.
                failure = self._no_answer(error)
            finally:
                connection.close()
            failures += 1
            pause = _growing(failures) if retry_after is None else retry_after + random.random() / 4
            if on_failure is not None:
                on_failure(failure, pause)
            time.sleep(pause)

    def _open_stream(self, connection: _Http, path: str, last: Optional[str]) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        connection.request("GET", self._prefix + path, headers=headers)
        return connection.getresponse()

    def _refusal_of(self, response: http.client.HTTPResponse) -> Optional[_Heard]:
        """Why the stream is not open when another try may open it; None when it is open. Raises HoldfastError when
        another try would be refused, too."""
        if response.status == 200 and "event-stream" in response.headers.get("Content-Type", ""):
            return None
        heard = _Heard.read(response, _data_of(response), self._address, "ALWAYS")
        if heard.meaning in ("AGAIN", "UNKNOWN"):
            return heard
        if heard.meaning == "DONE":
            raise HoldfastError("NOT_HOLDFAST", f"{self._address} answered no event stream", heard.status)
        raise heard.error


OnFailure = Callable[[HoldfastError, float], object]


class _Call:
    """repeatable: ALWAYS; KEYED: under its key; ONCE: only after an answer that says that nothing was done."""

    def __init__(
        self, method: str, path: str, body: Optional[Answer], repeatable: str, key: Optional[str] = None
    ) -> None:
        self.method = method
        self.path = path
        self.body = body
        self.repeatable = repeatable
        self.key = key


class _Until:
    """How much time is left, however slowly the bytes come; a stream puts the end off with each line."""

    def __init__(self, seconds: float) -> None:
        self.put_off(seconds)

    def put_off(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds. Raises TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is over")
        return left


class _Http(http.client.HTTPConnection):
    """A connection that ends in time. The timeout of a socket is one for each read, which a server that sends a byte now
    and then never exceeds."""

    until: _Until

    def connect(self) -> None:
        failure: OSError = OSError(f"{self.host} has no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(self.host, self.port, 0, socket.SOCK_STREAM):
            self.sock = socket.socket(family, kind, protocol)
            try:
                self.sock.settimeout(self.until.left())
                self.sock.connect(address)
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return
            except OSError as error:
                failure = error
                self.sock.close()
        raise failure

    def getresponse(self) -> http.client.HTTPResponse:
        self.response_class = lambda sock, *args, **known: _Response(sock, self.until, *args, **known)  # type: ignore
        return super().getresponse()


class _Https(http.client.HTTPSConnection, _Http):
    """The same with TLS: HTTPSConnection wraps the socket of the next class."""


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, until: _Until, *args: Any, **known: Any) -> None:
        super().__init__(sock, *args, **known)
        raw: Any = self.fp
        self.fp = io.BufferedReader(_Timed(raw.detach(), sock, until))


class _Timed(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: socket.socket, until: _Until) -> None:
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        self._sock.settimeout(self._until.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _data_of(response: http.client.HTTPResponse) -> bytes:
    """The body of an answer. Raises HTTPException when it is cut off, or longer than any of the service's."""
    parts: List[bytes] = []
    size = 0
    while size <= LONGEST_ANSWER:
        part = response.read(2**16)
        if part == b"":
            if response.length:
                raise http.client.IncompleteRead(b"".join(parts), response.length)
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    raise http.client.HTTPException(f"longer than {LONGEST_ANSWER // 2**20} MiB")


class _Heard:
    """An answer, and what it means. DONE, REFUSED: final. AGAIN: nothing was done. UNKNOWN: it may have been done, or
    will be."""

    def __init__(
        self,
        status: int,
        meaning: str,
        body: Optional[Answer] = None,
        error: Optional[HoldfastError] = None,
        retry_after: Optional[float] = None,
        replayed: bool = False,
    ) -> None:
        self.status = status
        self.meaning = meaning
        self.body = body
        self.error = error or HoldfastError("NO_ANSWER", f"the outcome is not known yet ({status})", status)
        self.retry_after = retry_after
        self.replayed = replayed
        self.request_id: Optional[str] = self.error.request_id or (body or {}).get("requestId")

    @staticmethod
    def read(response: http.client.HTTPResponse, data: bytes, url: str, repeatable: str) -> _Heard:
        status, headers = response.status, response.headers
        is_json = "json" in headers.get("Content-Type", "")
        body = _parsed(data) if is_json else None
        if is_json and body is None:
            raise http.client.HTTPException("the answer is cut off")
        said = headers.get("Retry-After", "")
        retry_after = float(said) if re.fullmatch("[0-9]{1,6}", said) else None
        replayed = headers.get("Idempotency-Replayed") == "true"
        if status == 204:
            return _Heard(status, "DONE", None, None, retry_after, replayed)
        is_answer = isinstance(body, dict) and (repeatable != "KEYED" or isinstance(body.get("requestId"), str))
        if is_answer and status < 300:
            # Without an operation there is no outcome to wait for.
            meaning = "UNKNOWN" if status == 202 and repeatable == "KEYED" else "DONE"
            return _Heard(status, meaning, body, None, retry_after, replayed)
        code = body.get("code") if isinstance(body, dict) else None
        # Where the gateway explains it, or a name, as 1.0.0 has it.
        if not isinstance(code, str) or body.get("type") not in (f"/docs/refusals#{code}", f"urn:holdfast:problem:{code}"):
            what = headers.get("Content-Type", "nothing")
            why = f"{url} answered {status} with {what}, which is not Holdfast's"
            why += ": check the address, and what stands before it"
            # Also an HTTP server or a proxy answers 408 and 429, when it has not handed the request on.
            meaning = "UNKNOWN" if status >= 500 or status in (408, 429) else "REFUSED"
            return _Heard(0, meaning, None, HoldfastError("NOT_HOLDFAST", why, status), retry_after)
        error = HoldfastError(code, _message_of(body), status, body)
        return _Heard(status, _meaning_of(code, status, repeatable), None, error, retry_after, replayed)


def _meaning_of(code: str, status: int, repeatable: str) -> str:
    if code in ("IDEMPOTENCY_IN_FLIGHT", "OUTCOME_UNKNOWN") or status == 500:
        return "UNKNOWN"
    # A change of a webhook may have been made when an older server answers 503.
    if status == 503 and repeatable == "ONCE":
        return "UNKNOWN"
    return "AGAIN" if status in (408, 429, 503) else "REFUSED"


def _message_of(problem: Answer) -> str:
    """What a refusal says in one line: its detail and each field at fault, none of which quotes a value."""
    errors = problem.get("errors")
    faults = [fault for fault in errors if isinstance(fault, dict)] if isinstance(errors, list) else []
    text = problem.get("detail") or problem.get("title") or problem["code"]
    said = "; ".join(f"{fault.get('field')} {fault.get('message')}" for fault in faults)
    return f"{text} {said}".strip()


def _capture_signature(signer: Tuple[str, Callable[[bytes], bytes]], body: bytes, key: str) -> Dict[str, str]:
    """The headers that sign one try of a capture: an HTTP Message Signature (RFC 9421) with a digest of the body (RFC
    9530)."""
    merchant_id, sign = signer
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    names = '("@method" "@path" "content-digest" "idempotency-key")'
    parameters = f'{names};created={int(time.time())};nonce="{uuid.uuid4()}";keyid="{merchant_id}";alg="ed25519"'
    lines = ['"@method": POST', f'"@path": {_CAPTURE}', f'"content-digest": {digest}', f'"idempotency-key": {key}']
    signed = "\n".join([*lines, f'"@signature-params": {parameters}'])
    signature = base64.b64encode(sign(signed.encode())).decode()
    return {"Content-Digest": digest, "Signature-Input": f"capture={parameters}", "Signature": f"capture=:{signature}:"}


def verify(
    headers: Union[Mapping[str, Any], Iterable[Tuple[str, Any]]],
    raw_body: Union[bytes, str],
    secrets: Sequence[str],
    now: Optional[float] = None,
) -> Answer:
    """Verifies a notification by its Standard Webhooks headers, which cover the whole body and its age; returns it as a
    dict.

    headers: the request's, by name in any case. raw_body: bytes as they came, before any parser. secrets: all live
    signing secrets. Raises InvalidNotification, whose `reason` says why, and InvalidSecret for a secret that is none,
    such as an empty one. Notifications come at least once: store before you answer, and handle each requestId once.
    """
    if isinstance(secrets, str) or not isinstance(secrets, Iterable):
        raise InvalidSecret("secrets must be a list of all live signing secrets")
    keys = [_key_of(secret) for secret in secrets]
    if isinstance(raw_body, str):
        raw_body = raw_body.encode("utf-8", "surrogatepass")
    if not isinstance(raw_body, (bytes, bytearray, memoryview)):
        raise _invalid("PARSED_BODY", "raw_body was parsed: pass the bytes as they came, before any parser")
    body = bytes(raw_body)
    found = _by_name(headers)
    message_id, sent_at, signature = (found.get(name) for name in _HEADERS)
    if not keys:
        raise _invalid("NO_SECRET", "there is no signing secret to verify with")
    missing = [name for name in _HEADERS if found.get(name) is None]
    if missing:
        raise _invalid("MISSING_HEADER", f"{', '.join(missing)}: absent; does a proxy or a framework remove it?")
    claims = [claim[3:] for claim in str(signature).split(" ")[:8] if _CLAIM.fullmatch(claim)]
    if not isinstance(message_id, str) or not message_id or not re.fullmatch("[0-9]{1,12}", str(sent_at)) or not claims:
        raise _invalid("MALFORMED_HEADER", f"one of {', '.join(_HEADERS)} is not as Standard Webhooks has it")
    # A header that is no UTF-8 may have surrogates, such as those of aiohttp.
    signed = f"{message_id}.{sent_at}.".encode("utf-8", "surrogatepass") + body
    genuine = False
    for key in keys:
        due = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for claim in claims:
            genuine = hmac.compare_digest(due, claim.encode()) or genuine
    if not genuine:
        raise _not_signed(found.get("x-service-signature"), body, secrets)
    age = (time.time() if now is None else now) - int(str(sent_at))
    if abs(age) > 300:
        raise _invalid("STALE", f"sent {age:.0f} s before the clock of this machine, which may be 300: is it right?")
    notification = _parsed(body)
    if not isinstance(notification, dict):
        raise _invalid("CHANGED_BODY", "the body is no JSON object")
    return notification


_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_CLAIM = re.compile("v1,[A-Za-z0-9+/]{43}=")


def _by_name(headers: Any) -> Dict[str, Any]:
    try:
        return {str(name).lower(): _one(value) for name, value in dict(headers).items()}
    except (TypeError, ValueError):
        return {}


def _one(value: Any) -> Any:
    """The value of a header that came once, also where a framework gives it as a list or as bytes."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _not_signed(legacy: Any, body: bytes, secrets: Sequence[str]) -> InvalidNotification:
    """Says whether the secret or the body is wrong: X-Service-Signature covers five fields of the body alone."""
    fields = _parsed(body)
    if body == b"":
        return _invalid("CHANGED_BODY", "the body is empty: was it read before?")
    if isinstance(fields, dict) and isinstance(legacy, str):
        names = ("merchantId", "requestId", "status", "amount", "currency")
        text = "".join(str(fields.get(name)) for name in names).encode("utf-8", "surrogatepass")
        for secret in secrets:
            due = base64.b64encode(hmac.new(secret.encode(), text, hashlib.sha256).digest())
            if hmac.compare_digest(due, legacy.encode("utf-8", "surrogatepass")):
                what = "the body is not byte for byte as it was sent: was it parsed and written again?"
                return _invalid("CHANGED_BODY", what)
    return _invalid("WRONG_SECRET", "none of the secrets signed this body: is it the secret of this merchant?")


def _invalid(reason: str, message: str) -> InvalidNotification:
    return InvalidNotification(message, reason)


# whsec_ and at least 24 bytes of canonical Base64, as Standard Webhooks demands.
_SECRET = re.compile(
    "whsec_(?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?"
)


def _key_of(secret: Any) -> bytes:
    if not isinstance(secret, str) or not _SECRET.fullmatch(secret):
        raise InvalidSecret(
            "a signing secret is whsec_ and at least 24 bytes of Base64, as it was issued; is the variable that it "
            "comes from set?"
        )
    return base64.b64decode(secret[len("whsec_"):])


def _events(
    response: http.client.HTTPResponse, until: _Until
) -> Iterator[Tuple[Optional[str], Optional[str]]]:
    """Reads Server-Sent Events as far as the streams use them: yields (id, data), each None when absent."""
    event_id, data = None, None
    while True:
        line = response.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            return  # Cut off, or without an end.
        until.put_off(SILENT_S)
        text = line.decode().rstrip("\r\n")
        if text == "":
            yield event_id, data
            event_id, data = None, None
        elif text.startswith("id:"):
            event_id = text[3:].strip()
        elif text.startswith("data:"):
            data = text[5:].strip()


def _path(collection: str, name: str) -> str:
    return f"{collection}/{urllib.parse.quote(name, safe='')}"


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _growing(count: int) -> float:
    """From 0.25 to 8 s, spread so that many clients do not come back at once."""
    pause: float = min(0.25 * 2 ** min(count - 1, 5), 8.0)
    return pause * (0.75 + random.random() / 2)
