// better-auth with its plugin for generic OAuth: PKCE, client_secret_post.
import { createServer } from 'node:http';
import { betterAuth } from 'better-auth';
import { toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';

const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, ISSUER, ORIGIN, PORT, SESSION_SECRET } = process.env;
const provider = {
  providerId: 'latchkey',
  clientId,
  clientSecret,
  discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
  scopes: ['openid', 'email', 'profile'],
  postLogoutRedirectURI: '/',
};
const auth = betterAuth({
  baseURL: ORIGIN,
  secret: SESSION_SECRET,
  plugins: [genericOAuth({ config: [provider] })],
});
const handler = toNodeHandler(auth);

/** Redirects to the address in the response of better-auth. */
async function redirect(res, response) {
  const { url } = await response.json();
  res.writeHead(303, { Location: url, 'Set-Cookie': response.headers.getSetCookie() }).end();
}

async function answer(req, res) {
  const headers = new Headers({ cookie: req.headers.cookie ?? '', origin: ORIGIN });
  if (req.url === '/login') {
    const body = { provider: 'latchkey', callbackURL: '/' };
    return redirect(res, await auth.api.signInSocial({ body, headers, asResponse: true }));
  }
  if (req.url === '/logout') return redirect(res, await auth.api.signOut({ headers, asResponse: true }));
  if (req.url !== '/') return handler(req, res);
  const session = await auth.api.getSession({ headers });
  const accounts = session && (await auth.api.listUserAccounts({ headers }));
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ session, accounts }));
}

createServer((req, res) => void answer(req, res)).listen(Number(PORT), '127.0.0.1');
