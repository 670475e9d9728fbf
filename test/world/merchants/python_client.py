"""Does with the Python client what lines of JSON ask for, and prints what came of each.

Arguments: the folder of holdfast.py, the base URL.
"""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, sys.argv[1])
from holdfast import Holdfast, HoldfastError  # noqa: E402

AT_ONCE = 600
printing = threading.Lock()


def obey(want):
    holdfast = Holdfast(sys.argv[2], want["apiKey"])
    writes = {
        "hold": holdfast.create_hold,
        "step-up": holdfast.create_hold,
        "capture": holdfast.capture_hold,
        "release": holdfast.release_hold,
        "part": holdfast.release_hold,
        "increment": holdfast.increment_hold,
        "extension": holdfast.extend_hold,
        "renewal": holdfast.renew_hold,
        "refund": holdfast.create_refund,
        "oct": holdfast.create_oct,
    }
    try:
        answer = writes[want["kind"]](idempotency_key=want["key"], timeout=want["timeoutS"], **want["body"])
        told = {name: answer.get(name) for name in ("outcome", "requestId", "preauthorizationId")}
        for name in ("extensionRequestId", "releaseRequestId"):
            told["requestId"] = answer.get(name, told["requestId"])
    except HoldfastError as error:
        told = {"outcome": "not done", "requestId": error.request_id}
    except Exception as error:  # A bug of the client.
        told = {"failure": repr(error)}
    with printing:
        print(json.dumps({"key": want["key"], **told}), flush=True)


with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
    for line in sys.stdin:
        pool.submit(obey, json.loads(line))
