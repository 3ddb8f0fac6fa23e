"""A service provider on pysaml2, in a folder with sp.key, sp.pem and idp.xml: python pysaml2-app.py ORIGIN PORT IDP"""

import sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, HTTPServer
from secrets import token_hex
from urllib.parse import parse_qs, urlsplit

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.client import Saml2Client
from saml2.config import SPConfig
from saml2.metadata import create_metadata_string
from saml2.xmldsig import SIG_RSA_SHA256

origin, port, idp = sys.argv[1:]
config = SPConfig().load(
    {
        "entityid": f"{origin}/metadata",
        "key_file": "sp.key",
        "cert_file": "sp.pem",
        "metadata": {"local": ["idp.xml"]},
        "allow_unknown_attributes": True,
        "service": {
            "sp": {
                "endpoints": {
                    "assertion_consumer_service": [(f"{origin}/acs", BINDING_HTTP_POST)],
                    "single_logout_service": [(f"{origin}/slo", BINDING_HTTP_REDIRECT)],
                },
                # Its default is SHA-1.
                "signing_algorithm": SIG_RSA_SHA256,
                "logout_requests_signed": True,
                "logout_responses_signed": True,
            }
        },
    }
)
client = Saml2Client(config)
# Of the browsers: the NameID and the attributes.
sessions = {}
requests = {}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        handler = getattr(self, "get_" + url.path.strip("/"), None)
        return handler(query) if handler else self.page("null")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        response = client.parse_authn_request_response(
            parse_qs(body)["SAMLResponse"][0], BINDING_HTTP_POST, outstanding=requests
        )
        key = token_hex(16)
        sessions[key] = (response.name_id, response.ava)
        self.redirect(requests.pop(response.in_response_to), {"Set-Cookie": f"sp={key}; HttpOnly; Path=/"})

    def get_metadata(self, _query):
        self.page(create_metadata_string(None, config=config).decode())

    def get_private(self, _query):
        found = sessions.get(self.key())
        if found:
            return self.page(f"{found[0].text} {found[1]['email'][0]}")
        request, info = client.prepare_for_authenticate(entityid=idp)
        requests[request] = "/private"
        self.redirect(dict(info["headers"])["Location"])

    def get_logout(self, _query):
        name_id, _ = sessions.pop(self.key())
        sent = client.global_logout(name_id)
        ((_, (_binding, info)),) = sent.items()
        self.redirect(dict(info["headers"])["Location"])

    def get_slo(self, query):
        if "SAMLResponse" in query:
            client.parse_logout_request_response(query["SAMLResponse"], BINDING_HTTP_REDIRECT)
            return self.redirect("/")
        name_id, _ = sessions.pop(self.key(), (None, None))
        info = client.handle_logout_request(
            query["SAMLRequest"],
            name_id,
            BINDING_HTTP_REDIRECT,
            relay_state=query.get("RelayState", ""),
        )
        self.redirect(dict(info["headers"])["Location"])

    def key(self):
        cookie = SimpleCookie(self.headers.get("cookie", "")).get("sp")
        return cookie.value if cookie else None

    def page(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def redirect(self, address, headers={}):
        self.send_response(303)
        for name, value in {"Location": address, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
