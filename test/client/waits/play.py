"""Plays calls with the client in Python, all at once: prints for each what it came to."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from holdfast import Holdfast, HoldfastError

HOLD = {"tokenId": "tok", "amount": 100, "currency": "EUR", "terminalId": "T1", "userId": "u"}


def play(call):
    holdfast = Holdfast(call["baseUrl"], "k")
    timeout = call["timeoutMs"] / 1000
    try:
        if call.get("isRead"):
            answer = holdfast.get_hold("x", timeout=timeout)
        else:
            answer = holdfast.create_hold(timeout=timeout, **HOLD)
        return {"outcome": answer["outcome"], "requestId": answer["requestId"], "says": answer.get("reason")}
    except HoldfastError as error:
        return {"outcome": error.code, "says": str(error)}


with ThreadPoolExecutor(32) as pool:
    print(json.dumps(list(pool.map(play, json.loads(sys.argv[1])))))
