"""Authlib with Flask, at its documented defaults: no PKCE, client_secret_basic, RS256."""

import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, redirect, session
from urllib.parse import urlencode

issuer = os.environ["ISSUER"]
origin = os.environ["ORIGIN"]
app = Flask(__name__)
app.secret_key = "of this application alone"
oauth = OAuth(app)
oauth.register(
    "latchkey",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{issuer}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid email profile"},
)


@app.get("/")
def home():
    return jsonify(session.get("user"))


@app.get("/login")
def login():
    return oauth.latchkey.authorize_redirect(f"{origin}/callback")


@app.get("/callback")
def callback():
    token = oauth.latchkey.authorize_access_token()
    session["id_token"] = token["id_token"]
    session["user"] = dict(oauth.latchkey.userinfo(token=token))
    return redirect("/")


@app.get("/logout")
def logout():
    session.pop("user", None)
    metadata = oauth.latchkey.load_server_metadata()
    query = {"id_token_hint": session.pop("id_token", ""), "post_logout_redirect_uri": f"{origin}/"}
    return redirect(f"{metadata['end_session_endpoint']}?{urlencode(query)}")


app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
