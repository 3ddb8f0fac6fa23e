"""Delegation for Python: second factors of users on your own pages. Needs the package cryptography, which Authlib needs, too.

    delegation = Delegation.from_env()
    delegation.call("getUserCredentials", {"userid": sub})  # {"mfa_method": "totp"}

FastAPI calls it in an endpoint that is a plain `def`, Django in a view. Operations: server/docs/http-api.md.
"""

import hashlib
import json
import os
import time
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from urllib import error, parse, request

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash

RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)
LIFETIME, LEEWAY, MAX_BYTES = 60, 30, 128 * 1024


class DelegationError(Exception):
    """Has the service's `code`, or RESPONSE_REJECTED or STALE if the response must not be trusted."""

    def __init__(self, code, message="", retry_after=None):
        super().__init__(f"{code} {message}".strip())
        self.code, self.retry_after = code, retry_after


class Envelope:
    """A JWS (Ed25519) in a JWE (X25519, A256GCM). Keys are PEM: yours are private, the service's public."""

    def __init__(self, signing, decryption, verification, encryption):
        # Environment variables often have a literal \\n.
        private = lambda pem: serialization.load_pem_private_key(pem.replace("\\n", "\n").encode(), None)
        public = lambda pem: serialization.load_pem_public_key(pem.replace("\\n", "\n").encode())
        self.signing, self.decryption = private(signing), private(decryption)
        self.verification, self.encryption = public(verification), public(encryption)

    def seal(self, client_id, audience, op, body):
        """The request as sent, and its jti."""
        now, jti, enc_kid = int(time.time()), str(uuid.uuid4()), thumbprint("X25519", self.encryption)
        payload = {"iss": client_id, "aud": audience, "iat": now, "exp": now + LIFETIME, "jti": jti}
        payload |= {"op": op, "enc_kid": enc_kid, "body": body}
        kid = thumbprint("Ed25519", self.signing.public_key())
        signed = f"{part({'alg': 'EdDSA', 'typ': 'delegation-req+jwt', 'kid': kid})}.{part(payload)}"
        inner = f"{signed}.{encoded(self.signing.sign(signed.encode()))}"
        own, iv = X25519PrivateKey.generate(), os.urandom(12)
        epk = {"kty": "OKP", "crv": "X25519", "x": encoded(own.public_key().public_bytes(*RAW))}
        header = {"alg": "ECDH-ES", "enc": "A256GCM", "typ": "delegation-req+jwe", "cty": "JWT", "kid": enc_kid}
        head = part(header | {"epk": epk})
        box = AESGCM(derived(own.exchange(self.encryption))).encrypt(iv, inner.encode(), head.encode())
        return f"{head}..{encoded(iv)}.{encoded(box[:-16])}.{encoded(box[-16:])}", jti

    def open(self, client_id, audience, sent, jti, text, now=None):
        """HTTP status and body of the response to the request `sent`. Raises DelegationError."""
        try:
            payload = self._payload(text)
            status, body = payload["status"], payload["body"]
            answered = payload.get("req_jti", ...)
            valid = (
                type(status) is int
                and isinstance(body, dict)
                and payload["req_hash"] == encoded(hashlib.sha256(sent.encode()).digest())
                # Without a valid signature, the service has no jti to repeat.
                and (answered == jti or (answered is ... and status >= 400))
                and (payload["iss"], payload["aud"]) == (audience, client_id)
            )
            iat, exp = payload["iat"] + 0, payload["exp"] + 0
        except (ValueError, KeyError, TypeError, AttributeError, InvalidSignature, InvalidTag) as cause:
            raise DelegationError("RESPONSE_REJECTED") from cause
        if not valid:
            raise DelegationError("RESPONSE_REJECTED")
        now = time.time() if now is None else now
        if iat > now + LEEWAY or exp <= now - LEEWAY:
            raise DelegationError("STALE")
        return status, body

    def _payload(self, text):
        expected = {"alg": "ECDH-ES", "enc": "A256GCM", "typ": "delegation-res+jwe", "cty": "JWT"}
        header, (head, key, iv, box, tag) = opened(text, 5, expected, {"kid", "epk"})
        epk, iv, tag = header["epk"], decoded(iv), decoded(tag)
        if (epk["kty"], epk["crv"], key, len(iv), len(tag)) != ("OKP", "X25519", "", 12, 16):
            raise ValueError("not ECDH-ES with A256GCM")
        secret = self.decryption.exchange(X25519PublicKey.from_public_bytes(decoded(epk["x"])))
        inner = AESGCM(derived(secret)).decrypt(iv, decoded(box) + tag, head.encode()).decode()
        _, (head, payload, signature) = opened(inner, 3, {"alg": "EdDSA", "typ": "delegation-res+jwt"}, {"kid"})
        self.verification.verify(decoded(signature), f"{head}.{payload}".encode())
        return json.loads(decoded(payload))


class Delegation:
    """Calls the service. Redirects are not followed: they could leak the API key."""

    def __init__(self, base_url, client_id, api_key, envelope):
        address = parse.urlsplit(base_url)
        if address.scheme != "https" and address.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("base_url must use https")
        self.url, self.client_id, self.api_key = f"{base_url.rstrip('/')}/v1/delegation", client_id, api_key
        self.envelope, self.audience = envelope, None

    @classmethod
    def from_env(cls, env=os.environ):
        own = (env["SP_ED25519_PRIVATE_KEY_PEM"], env["SP_X25519_PRIVATE_KEY_PEM"])
        envelope = Envelope(*own, env["IDP_ED25519_PUBLIC_KEY_PEM"], env["IDP_X25519_PUBLIC_KEY_PEM"])
        return cls(env["LATCHKEY_BASE_URL"], env["LATCHKEY_SP_ID"], env["LATCHKEY_API_KEY"], envelope)

    def call(self, op, body):
        """The result of an operation. Raises DelegationError."""
        if self.audience is None:
            found = json.loads(self._send(None))
            if found["client_id"] != self.client_id:
                raise ValueError("the key belongs to another client")
            self.audience = f"{found['issuer']}/{found['project_id']}"
        sent, jti = self.envelope.seal(self.client_id, self.audience, op, body)
        status, result = self.envelope.open(self.client_id, self.audience, sent, jti, self._send(sent))
        if status != 200:
            raise failure(result)
        return result

    def _send(self, text):
        headers = {"X-Api-Key": self.api_key, "Content-Type": "application/jose"}
        asked = request.Request(self.url, text and text.encode(), headers)
        try:
            with opener.open(asked, timeout=10) as response:
                return response.read(MAX_BYTES).decode()
        except error.HTTPError as refused:
            try:
                raise failure(json.loads(refused.read(MAX_BYTES))) from refused
            except (ValueError, KeyError, TypeError):
                raise DelegationError("RESPONSE_INVALID", f"HTTP {refused.code}") from refused


class NoRedirects(request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = request.build_opener(NoRedirects)


def failure(body):
    found = body["error"]
    return DelegationError(found["code"], found.get("message", ""), found.get("retry_after"))


def encoded(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    """Only canonical base64url: one text for each value."""
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encoded(data) != text:
        raise ValueError("not base64url")
    return data


def part(value):
    return encoded(json.dumps(value, separators=(",", ":")).encode())


def opened(text, count, expected, further):
    """Header and parts of a compact JWE or JWS with exactly the expected members."""
    parts = text.split(".")
    header = json.loads(decoded(parts[0]))
    if len(parts) != count or not header.keys() <= expected.keys() | further:
        raise ValueError("unexpected header")
    if any(header.get(name) != value for name, value in expected.items()) or any(decoded(one) is None for one in parts):
        raise ValueError("unexpected header")
    return header, parts


def thumbprint(curve, key):
    """RFC 7638, RFC 8037 section 2."""
    jwk = json.dumps({"crv": curve, "kty": "OKP", "x": encoded(key.public_bytes(*RAW))}, separators=(",", ":"))
    return encoded(hashlib.sha256(jwk.encode()).digest())


def derived(secret):
    """Concat KDF (RFC 7518 section 4.6.2) without apu and apv."""
    info = b"\0\0\0\7A256GCM" + b"\0\0\0\0" * 2 + (256).to_bytes(4, "big")
    return ConcatKDFHash(hashes.SHA256(), 32, info).derive(secret)
