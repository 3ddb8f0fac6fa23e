/** better-auth with its OAuth provider on PostgreSQL: ES512 ID tokens, JWT access tokens, a client without consent. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { oauthProvider } from '@better-auth/oauth-provider';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import pg from 'pg';

const port = Number(process.env.PORT);
const issuer = `http://localhost:${port}`;
const redirectUri = 'https://app.example.com/callback';
const base = `${issuer}/api/auth`;

const options = {
  baseURL: issuer,
  // Constant across starts, because it encrypts the signing key.
  secret: 'a secret that only this benchmark uses',
  database: new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 }),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  logger: { level: 'error' },
  telemetry: { enabled: false },
  disabledPaths: ['/token'],
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'ES512' } }, disableSettingJwtHeader: true }),
    oauthProvider({
      loginPage: '/sign-in',
      consentPage: '/consent',
      scopes: ['openid', 'profile', 'email'],
      resources: [base],
      cachedResources: new Set([base]),
      enforcePerClientResources: false,
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
};
const { runMigrations } = await getMigrations(options);
await runMigrations();
const auth = betterAuth(options);

const cookies = [];
for (let worker = 0; worker < Number(process.env.WORKERS); worker += 1) {
  const email = `peer-${worker}-${process.pid}@example.com`;
  const body = { name: 'A Person', email, password: randomBytes(12).toString('hex') };
  const response = await auth.api.signUpEmail({ body, asResponse: true });
  cookies.push(
    response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';', 1)[0])
      .join('; '),
  );
}
const client = await auth.api.adminCreateOAuthClient({
  body: {
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    application_type: 'web',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    scope: 'openid profile email',
    skip_consent: true,
  },
  headers: new Headers({ cookie: cookies[0] }),
});

const { version } = JSON.parse(readFileSync(new URL('../node_modules/better-auth/package.json', import.meta.url)));
createServer(toNodeHandler(auth)).listen(port, '127.0.0.1', () => {
  const ready = {
    version,
    issuer: base,
    authorizePath: '/api/auth/oauth2/authorize',
    tokenPath: '/api/auth/oauth2/token',
    userInfoPath: '/api/auth/oauth2/userinfo',
    cookies,
    clients: { public: { clientId: client.client_id, redirectUri, resource: base } },
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
});
