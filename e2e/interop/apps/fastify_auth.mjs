// @fastify/oauth2, a wrapper of simple-oauth2: client_secret_basic, and PKCE as discovery announces it.
import oauth from '@fastify/oauth2';
import Fastify from 'fastify';

const { CLIENT_ID: id, CLIENT_SECRET: secret, ISSUER: issuer, ORIGIN, PORT, REDIRECT_URI } = process.env;
const app = Fastify();
app.register(oauth, {
  name: 'latchkey',
  scope: ['openid', 'email', 'profile'],
  credentials: { client: { id, secret } },
  startRedirectPath: '/login',
  callbackUri: REDIRECT_URI,
  discovery: { issuer },
});
let signedIn = null;
app.get('/callback', async (req, reply) => {
  const { token } = await app.latchkey.getAccessTokenFromAuthorizationCodeFlow(req);
  signedIn = { idToken: token.id_token, claims: await app.latchkey.userinfo(token.access_token) };
  return reply.redirect('/');
});
app.get('/', async () => ({ claims: signedIn?.claims ?? null }));
app.get('/logout', async (_req, reply) => {
  const query = new URLSearchParams({ id_token_hint: signedIn.idToken, post_logout_redirect_uri: `${ORIGIN}/` });
  signedIn = null;
  return reply.redirect(`${issuer}/oauth2/end_session?${query}`);
});
await app.listen({ port: Number(PORT), host: '127.0.0.1' });
