"""Authlib with FastAPI: PKCE, client_secret_basic, RS256."""

import os
from urllib.parse import urlencode

import uvicorn
from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

issuer = os.environ["ISSUER"]
origin = os.environ["ORIGIN"]
app = FastAPI()
app.add_middleware(SessionMiddleware, secret_key="of this application alone")
oauth = OAuth()
oauth.register(
    "latchkey",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{issuer}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid email profile", "code_challenge_method": "S256"},
)


@app.get("/")
async def home(request: Request):
    return request.session.get("user")


@app.get("/login")
async def login(request: Request):
    return await oauth.latchkey.authorize_redirect(request, f"{origin}/callback")


@app.get("/callback")
async def callback(request: Request):
    token = await oauth.latchkey.authorize_access_token(request)
    request.session["id_token"] = token["id_token"]
    request.session["user"] = dict(await oauth.latchkey.userinfo(token=token))
    return RedirectResponse("/", status_code=303)


@app.get("/logout")
async def logout(request: Request):
    metadata = await oauth.latchkey.load_server_metadata()
    query = {"id_token_hint": request.session.get("id_token", ""), "post_logout_redirect_uri": f"{origin}/"}
    request.session.clear()
    return RedirectResponse(f"{metadata['end_session_endpoint']}?{urlencode(query)}", status_code=303)


uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
