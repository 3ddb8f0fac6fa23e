"""Authlib with Django: PKCE, client_secret_basic, RS256."""

import os
from urllib.parse import urlencode
from wsgiref.simple_server import make_server

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of this application alone",
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware"],
    SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies",
)
django.setup()

from authlib.integrations.django_client import OAuth  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.shortcuts import redirect  # noqa: E402
from django.urls import path  # noqa: E402

issuer = os.environ["ISSUER"]
origin = os.environ["ORIGIN"]
oauth = OAuth()
oauth.register(
    "latchkey",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{issuer}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid email profile", "code_challenge_method": "S256"},
)


def home(request):
    return JsonResponse({"user": request.session.get("user")})


def login(request):
    return oauth.latchkey.authorize_redirect(request, f"{origin}/callback")


def callback(request):
    token = oauth.latchkey.authorize_access_token(request)
    request.session["id_token"] = token["id_token"]
    request.session["user"] = dict(oauth.latchkey.userinfo(token=token))
    return redirect("/")


def logout(request):
    metadata = oauth.latchkey.load_server_metadata()
    query = {"id_token_hint": request.session.get("id_token", ""), "post_logout_redirect_uri": f"{origin}/"}
    request.session.flush()
    return redirect(f"{metadata['end_session_endpoint']}?{urlencode(query)}")


urlpatterns = [path("", home), path("login", login), path("callback", callback), path("logout", logout)]
make_server("127.0.0.1", int(os.environ["PORT"]), get_wsgi_application()).serve_forever()
