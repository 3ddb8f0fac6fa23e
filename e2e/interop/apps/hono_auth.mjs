// @hono/oidc-auth: PKCE, client_secret_basic, and all scopes that the issuer announces.
import { serve } from '@hono/node-server';
import { getAuth, initOidcAuthMiddleware, oidcAuthMiddleware } from '@hono/oidc-auth';
import { Hono } from 'hono';

const app = new Hono();
app.use(
  initOidcAuthMiddleware({
    OIDC_AUTH_SECRET: process.env.SESSION_SECRET,
    OIDC_ISSUER: process.env.ISSUER,
    OIDC_CLIENT_ID: process.env.CLIENT_ID,
    OIDC_CLIENT_SECRET: process.env.CLIENT_SECRET,
  }),
);
app.get('/', (c) => c.text('null'));
app.use('*', oidcAuthMiddleware());
app.get('/account', async (c) => c.json(await getAuth(c)));

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
