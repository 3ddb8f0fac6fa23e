"""The recipe of delegation in Python: opens the published vectors, and calls a running service."""

import json
import os
import sys

sys.path.insert(0, os.environ["RECIPES"])
from delegation import Delegation, DelegationError, Envelope  # noqa: E402

vectors = json.load(open(os.environ["VECTORS"], encoding="utf-8"))
own, theirs, expected = vectors["keys"]["backEnd"], vectors["keys"]["service"], vectors["expected"]
envelope = Envelope(
    own["signing"]["private"],
    own["encryption"]["private"],
    theirs["signing"]["public"],
    theirs["encryption"]["public"],
)
sent, jti = vectors["requests"][0]["text"], vectors["request"]["jti"]
for case in vectors["responses"]:
    try:
        status, body = envelope.open(expected["clientId"], expected["audience"], sent, jti, case["text"], expected["now"])
        found = {"status": status, "body": body}
    except DelegationError as error:
        found = error.code
    wanted = vectors["response"] if case["valid"] else case["error"]
    assert found == wanted, f"{case['name']}: {found} instead of {wanted}"

delegation = Delegation.from_env()
assert delegation.call("getUserCredentials", {"userid": os.environ["USERID"]})["mfa_method"] == "none"
try:
    delegation.call("getUserCredentials", {"userid": "nobody@example.com"})
    raise AssertionError("a user who does not exist")
except DelegationError as error:
    assert error.code == "USER_NOT_FOUND", error
print(f"{len(vectors['responses'])} vectors, a call, a refusal")
