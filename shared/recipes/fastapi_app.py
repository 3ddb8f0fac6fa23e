import os
from urllib.parse import urlencode

import uvicorn
from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

redirect_uri = os.environ["REDIRECT_URI"]
app = FastAPI()
app.add_middleware(
    SessionMiddleware, secret_key=os.environ["SESSION_SECRET"], https_only=redirect_uri.startswith("https:")
)
oauth = OAuth()
oauth.register(
    "latchkey",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{os.environ['ISSUER']}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid email profile", "code_challenge_method": "S256"},
)


@app.get("/account")
async def account(request: Request):
    return request.session.get("user") or await oauth.latchkey.authorize_redirect(request, redirect_uri)


@app.get("/callback")
async def callback(request: Request):
    token = await oauth.latchkey.authorize_access_token(request)
    # The ID token is verified. Use sub as the key of your accounts.
    user = {name: token["userinfo"].get(name) for name in ("sub", "email")}
    request.session.update({"id_token": token["id_token"], "user": user})
    return RedirectResponse("/account", status_code=303)


@app.get("/logout")
async def logout(request: Request):
    metadata = await oauth.latchkey.load_server_metadata()
    query = urlencode({"id_token_hint": request.session.get("id_token", "")})
    request.session.clear()
    return RedirectResponse(f"{metadata['end_session_endpoint']}?{query}", status_code=303)


uvicorn.run(app, port=int(os.environ["PORT"]))
