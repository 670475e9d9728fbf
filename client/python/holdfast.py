"""Holdfast for a merchant's backend: one file, Python 3.9 and newer, nothing but the standard library.

    holdfast = Holdfast("http://127.0.0.1:8080", os.environ["HOLDFAST_API_KEY"])
    hold = holdfast.create_hold(tokenId="tok_…", amount=1000, currency="EUR", terminalId="till-1", userId="u")
    if hold["outcome"] == "done":
        holdfast.capture_hold(preauthorizationId=hold["preauthorizationId"], amountToCapture=400)

A write is done at most once, however often it is sent; what cannot be known is answered with outcome "unknown", never
raised as a failure. docs/clients.md describes the promise; client/ has the same in TypeScript.
"""

import base64
import hashlib
import hmac
import http.client
import json
import random
import re
import time
import urllib.parse
import uuid

__all__ = ["Holdfast", "HoldfastError", "InvalidNotification", "InvalidSecret", "verify"]
__version__ = "1.0.0"


class HoldfastError(Exception):
    """A call that is refused or failed. Nothing was done, unless request_id names an operation that is recorded as KO.

    code: the service's, also one that this version does not know; NO_ANSWER; or NOT_HOLDFAST: something else answered,
    such as a proxy.
    """

    def __init__(self, code, message, status=0, problem=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.status = status
        self.problem = problem or {}
        self.request_id = self.problem.get("requestId")


class InvalidNotification(Exception):
    """A request that is no genuine notification: answer it with 401, and do nothing else."""


class InvalidSecret(ValueError):
    """A signing secret that is none, such as the text of an environment variable that is not set. Anybody can sign with
    an empty key, so nothing is verified with one."""


# Core stores nothing of a call later than this (docs/product.md, "What an answer promises").
STORED_WITHIN_S = 30.0
# The service answers sooner, by 202 if need be.
ANSWER_WITHIN_S = 40.0
# A stream is never silent for this long.
SILENT_S = 45.0


_CAPTURE = "/preauthorization/authorization"


class Holdfast:
    """The merchant's routes. Every method raises HoldfastError when the call is refused. An object may be shared by
    threads."""

    def __init__(self, base_url, api_key, on_request=None, sign_captures=None):
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
        self._url = url
        self._prefix = url.path.rstrip("/")
        self._api_key = api_key
        self._on_request = on_request
        self._sign_captures = sign_captures

    # Writes take the fields of the route, and idempotency_key and timeout (seconds with all tries). They return the
    # answer with "outcome": "done", "idempotencyKey" and "replayed"; or, when the time is over, "outcome": "unknown"
    # with "idempotencyKey" and "requestId" (None when no answer named it): call again with the same key, or ask
    # get_operation().

    def create_hold(self, *, idempotency_key=None, timeout=60.0, **hold):
        """Places a hold. The customer is to go to checkoutUrl (without tokenId), or to the url of a nextAction."""
        return self._write("/preauthorization", hold, idempotency_key, timeout)

    def capture_hold(self, *, idempotency_key=None, timeout=60.0, **capture):
        """Charges a hold: preauthorizationId, amountToCapture, finalCapture; currency is refused when it is not the
        hold's. This and other operations take merchantReference, metadata and reason, too."""
        return self._write(_CAPTURE, capture, idempotency_key, timeout)

    def increment_hold(self, *, idempotency_key=None, timeout=60.0, **increment):
        """Adds `amountToAdd` to a hold."""
        return self._write("/preauthorization/increment", increment, idempotency_key, timeout)

    def extend_hold(self, *, idempotency_key=None, timeout=60.0, **extension):
        """Lets a hold end later."""
        return self._write("/preauthorization/extend", extension, idempotency_key, timeout)

    def release_hold(self, *, idempotency_key=None, timeout=60.0, **release):
        """Gives back what remains of a hold, or the part `amountToRelease`: requestId, or preauthorizationId; and
        currency, reason and the like as above."""
        return self._write("/preauthorization/release", release, idempotency_key, timeout)

    def update_hold(self, request_id, timeout=60.0, **changes):
        """Changes what a hold is for, or when it is captured or ends by itself; None takes a field back. Returns the
        hold."""
        return self._send("PATCH", _path("/preauthorization", request_id), changes, None, timeout)[1]

    def create_refund(self, *, idempotency_key=None, timeout=60.0, **refund):
        """Gives a capture back: captureRequestId, and amount; without it all that is left."""
        return self._write("/refund", refund, idempotency_key, timeout)

    def renew_hold(self, *, idempotency_key=None, timeout=60.0, **renewal):
        """Places a hold like an earlier one: requestId, or preauthorizationId, and amount if not what remained."""
        return self._write("/preauthorization/renew", renewal, idempotency_key, timeout)

    def create_oct(self, *, idempotency_key=None, timeout=60.0, **oct_):
        """Pays an amount to a card."""
        return self._write("/oct", oct_, idempotency_key, timeout)

    def get_hold(self, request_id, timeout=60.0):
        """Looks up a hold with its newest captures."""
        return self._read(_path("/preauthorization", request_id), timeout)

    def get_refund(self, request_id, timeout=60.0):
        return self._read(_path("/refund", request_id), timeout)

    def get_oct(self, request_id, timeout=60.0):
        return self._read(_path("/oct", request_id), timeout)

    def get_operation(self, request_id, timeout=60.0):
        """Looks up an operation, final or not."""
        return self._read(_path("/operations", request_id), timeout)

    def get_contract(self, timeout=60.0):
        """What this merchant may do."""
        return self._read("/contract", timeout)

    def get_delivery(self, delivery_id, timeout=60.0):
        return self._read(_path("/deliveries", delivery_id), timeout)

    def get_webhook_endpoint(self, timeout=60.0):
        return self._read("/webhook-endpoint", timeout)

    def list_holds(self, timeout=60.0, **filters):
        """Iterates over holds, newest first; reads pages as it goes."""
        return self._list("/preauthorization", filters, timeout)

    def list_operations(self, timeout=60.0, **filters):
        """Iterates over final results, newest first."""
        return self._list("/operations", filters, timeout)

    def list_deliveries(self, timeout=60.0, **filters):
        """Iterates over deliveries of notifications, newest first."""
        return self._list("/deliveries", filters, timeout)

    def watch_operations(self, after=None):
        """Iterates over results as they become final, in their order, for ever: yields (id, operation).

        It resumes by itself and skips none; keep the id to resume after a restart. Raises HoldfastError
        STREAM_TOKEN_TOO_OLD when it cannot resume: list the operations then.
        """
        return self._watch("/operations/stream", after)

    def watch_notifications(self, after=None):
        """Iterates over notifications as they would be sent now, for ever: (id, {"path", "headers", "body"}); verify()
        takes them.

        It needs no address for them, and resumes as watch_operations() does.
        """
        return self._watch("/notifications/stream", after)

    def _write(self, path, body, key, timeout):
        key = key or str(uuid.uuid4())
        known, body, replayed, request_id = self._send("POST", path, body, key, timeout)
        if not known:
            return {"outcome": "unknown", "idempotencyKey": key, "requestId": request_id}
        return {**body, "outcome": "done", "idempotencyKey": key, "replayed": replayed}

    def _read(self, path, timeout):
        return self._send("GET", path, None, None, timeout)[1]

    def _list(self, path, filters, timeout):
        query = {name: value for name, value in filters.items() if value is not None}
        while True:
            page = self._read(f"{path}?{urllib.parse.urlencode(query)}", timeout)
            yield from page["items"]
            if "nextPageToken" not in page:
                return
            query["pageToken"] = page["nextPageToken"]

    def _send(self, method, path, body, key, timeout):
        """Sends a call until there is an answer that is final. Returns (is it known, the body, replayed, requestId)."""
        end = time.monotonic() + timeout
        unanswered_at, request_id, count = None, None, 0
        while True:
            count += 1
            heard = self._once(method, path, body, key, count, end)
            request_id = heard.request_id or request_id
            now = time.monotonic()
            if heard.meaning == "UNKNOWN":
                unanswered_at = now
            if heard.meaning == "DONE":
                return True, heard.body, heard.replayed, request_id
            # A write without an answer may still be stored for a while; until then a refusal of a later try says nothing
            # about it.
            settled = key is None or unanswered_at is None or now - unanswered_at > STORED_WITHIN_S
            if heard.meaning == "REFUSED" and (settled or heard.error.request_id is not None):
                raise heard.error
            pause = _growing(count) if heard.retry_after is None else heard.retry_after + random.random() / 4
            if now + pause < end:
                time.sleep(pause)
                continue
            if key is not None and unanswered_at is not None:
                return False, None, False, request_id
            raise heard.error

    def _once(self, method, path, body, key, count, end):
        heard = self._ask(method, path, body, key, end)
        if self._on_request is not None:
            report = {"method": method, "path": path.split("?")[0], "try": count, "status": heard.status}
            report["code"] = heard.error.code if heard.status == 0 or heard.status >= 300 else None
            report["requestId"] = heard.request_id
            self._on_request(report)
        return heard

    def _ask(self, method, path, body, key, end):
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "application/json, application/problem+json"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        if path == _CAPTURE and self._sign_captures is not None:
            headers.update(_capture_signature(self._sign_captures, data, key))
        connection = self._connect(max(0.05, min(ANSWER_WITHIN_S, end - time.monotonic())))
        sent = False
        try:
            connection.connect()
            sent = True
            connection.request(method, self._prefix + path, data, headers)
            response = connection.getresponse()
            return _Heard.read(response, response.read(), self._url.geturl(), key is not None)
        except (OSError, http.client.HTTPException) as error:
            why = f"no answer from {self._url.geturl()} ({error!r}): check the address, the network, or repeat the call"
            return _Heard(0, "UNKNOWN" if sent else "AGAIN", error=HoldfastError("NO_ANSWER", why))
        finally:
            connection.close()

    def _connect(self, timeout):
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        return kind(self._url.hostname, self._url.port, timeout=timeout)

    def _watch(self, path, after):
        last, failures = after, 0
        while True:
            pause = None
            try:
                connection, response = self._open_stream(path, last)
                try:
                    pause = self._refusal_of(response)
                    for event_id, data in _events(response) if pause is None else ():
                        failures = 0
                        last = event_id or last
                        if data is not None:
                            yield last, json.loads(data)
                finally:
                    connection.close()
            except (OSError, http.client.HTTPException):
                pass  # The connection broke, or was silent: it is opened again.
            failures += 1
            time.sleep(_growing(failures) if pause is None else pause)

    def _open_stream(self, path, last):
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        connection = self._connect(SILENT_S)
        try:
            connection.request("GET", self._prefix + path, headers=headers)
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def _refusal_of(self, response):
        """How long to wait before the next try; None when the stream is open."""
        if response.status == 200 and "event-stream" in response.headers.get("Content-Type", ""):
            return None
        heard = _Heard.read(response, response.read(), self._url.geturl())
        if heard.meaning in ("AGAIN", "UNKNOWN"):
            return 1.0 if heard.retry_after is None else heard.retry_after
        if heard.meaning == "DONE":
            raise HoldfastError("NOT_HOLDFAST", f"{self._url.geturl()} answered no event stream", heard.status)
        raise heard.error


class _Heard:
    """An answer, and what it means. DONE, REFUSED: final. AGAIN: nothing was done. UNKNOWN: it may have been done, or
    will be."""

    def __init__(self, status, meaning, body=None, error=None, retry_after=None, replayed=False):
        self.status = status
        self.meaning = meaning
        self.body = body
        self.error = error or HoldfastError("NO_ANSWER", f"the outcome is not known yet ({status})", status)
        self.retry_after = retry_after
        self.replayed = replayed
        self.request_id = self.error.request_id or (body or {}).get("requestId")

    @staticmethod
    def read(response, data, url, names_operation=False):
        status, headers = response.status, response.headers
        is_json = "json" in headers.get("Content-Type", "")
        body = _parsed(data) if is_json else None
        if is_json and body is None:
            raise http.client.HTTPException("the answer is cut off")
        said = headers.get("Retry-After", "")
        retry_after = float(said) if re.fullmatch("[0-9]{1,6}", said) else None
        known = {"retry_after": retry_after, "replayed": headers.get("Idempotency-Replayed") == "true"}
        is_answer = isinstance(body, dict) and (not names_operation or isinstance(body.get("requestId"), str))
        if is_answer and status < 300:
            return _Heard(status, "UNKNOWN" if status == 202 else "DONE", body, **known)
        code = body.get("code") if isinstance(body, dict) else None
        if not isinstance(code, str) or body.get("type") != f"urn:holdfast:problem:{code}":
            what = headers.get("Content-Type", "nothing")
            why = f"{url} answered {status} with {what}, which is not Holdfast's"
            why += ": check the address, and what stands before it"
            # Also an HTTP server or a proxy answers 408 and 429, when it has not handed the request on.
            meaning = "UNKNOWN" if status >= 500 or status in (408, 429) else "REFUSED"
            return _Heard(0, meaning, error=HoldfastError("NOT_HOLDFAST", why, status), retry_after=retry_after)
        error = HoldfastError(code, _message_of(body), status, body)
        if code in ("IDEMPOTENCY_IN_FLIGHT", "OUTCOME_UNKNOWN") or status == 500:
            return _Heard(status, "UNKNOWN", error=error, **known)
        return _Heard(status, "AGAIN" if status in (408, 429, 503) else "REFUSED", error=error, **known)


def _message_of(problem):
    """What a refusal says in one line: its detail and each field at fault, none of which quotes a value."""
    errors = problem.get("errors")
    faults = [fault for fault in errors if isinstance(fault, dict)] if isinstance(errors, list) else []
    text = problem.get("detail") or problem.get("title") or problem["code"]
    said = "; ".join(f"{fault.get('field')} {fault.get('message')}" for fault in faults)
    return f"{text} {said}".strip()


def _capture_signature(signer, body, key):
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


def verify(headers, raw_body, secrets, now=None):
    """Verifies a notification by its Standard Webhooks headers, which cover the whole body and its age; returns it as a
    dict.

    headers: the request's, by name in any case. raw_body: bytes as they came, before any parser. secrets: all live
    signing secrets. Raises InvalidNotification, and InvalidSecret for a secret that is none, such as an empty one.
    Notifications come at least once: store before you answer, and handle each requestId once.
    """
    keys = [_key_of(secret) for secret in secrets]
    found = {name.lower(): value for name, value in dict(headers).items()}
    message_id, sent_at = found.get("webhook-id", ""), found.get("webhook-timestamp", "")
    claims = [claim[3:] for claim in found.get("webhook-signature", "").split(" ")[:8] if claim.startswith("v1,")]
    now = time.time() if now is None else now
    fresh = re.fullmatch("[0-9]{1,12}", sent_at) is not None and abs(now - int(sent_at)) <= 300
    # A header that is no UTF-8 may have surrogates, such as those of aiohttp.
    signed = f"{message_id}.{sent_at}.".encode("utf-8", "surrogatepass") + raw_body
    genuine = False
    for key in keys:
        due = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for claim in claims:
            genuine = hmac.compare_digest(due, claim.encode("utf-8", "surrogatepass")) or genuine
    if not (genuine and fresh and message_id):
        why = "is not one of this body, or is more than 5 minutes from this machine's clock"
        raise InvalidNotification("webhook-signature " + why)
    return json.loads(raw_body)


# whsec_ and at least 24 bytes of canonical Base64, as Standard Webhooks demands.
_SECRET = re.compile(
    "whsec_(?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?"
)


def _key_of(secret):
    if not isinstance(secret, str) or not _SECRET.fullmatch(secret):
        raise InvalidSecret(
            "a signing secret is whsec_ and at least 24 bytes of Base64, as it was issued; is the variable that it "
            "comes from set?"
        )
    return base64.b64decode(secret[len("whsec_"):])


def _events(response):
    """Reads Server-Sent Events as far as the streams use them: yields (id, data), each None when absent."""
    event_id, data = None, None
    for line in response:
        if not line.endswith(b"\n"):
            return  # Cut off.
        text = line.decode().rstrip("\r\n")
        if text == "":
            yield event_id, data
            event_id, data = None, None
        elif text.startswith("id:"):
            event_id = text[3:].strip()
        elif text.startswith("data:"):
            data = text[5:].strip()


def _path(collection, name):
    return f"{collection}/{urllib.parse.quote(name, safe='')}"


def _parsed(data):
    try:
        return json.loads(data)
    except ValueError:
        return None


def _growing(count):
    """From 0.25 to 8 s, spread so that many clients do not come back at once."""
    return 0.25 * 2 ** min(count - 1, 5) * (0.75 + random.random() / 2)
