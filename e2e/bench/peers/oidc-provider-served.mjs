/**
 * oidc-provider with Latchkey's features: PKCE, ES512 ID tokens with the granted claims, JWT access tokens (ES512, as
 * resource server tokens), signed-in sessions and granted consent.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const port = Number(process.env.PORT);
const issuer = `http://localhost:${port}`;
const redirectUri = 'https://app.example.com/callback';
const resource = 'https://api.example.com';
const scope = 'openid profile email';

const es512 = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey.export({ format: 'jwk' });
const clientPair = generateKeyPairSync('ed25519');

const account = (id) => ({
  accountId: id,
  claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: 'A Person' }),
});

/** @param Adapter class as in oidc-provider's documentation */
export async function serve(Adapter) {
  const provider = new Provider(issuer, {
    adapter: Adapter,
    jwks: { keys: [{ ...es512, alg: 'ES512', use: 'sig', kid: 'signing' }] },
    clients: [
      {
        client_id: 'public',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: 'ES512',
        grant_types: ['authorization_code'],
      },
      {
        client_id: 'confidential',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'EdDSA',
        jwks: { keys: [{ ...clientPair.publicKey.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig' }] },
        id_token_signed_response_alg: 'ES512',
        grant_types: ['authorization_code'],
      },
    ],
    enabledJWA: {
      idTokenSigningAlgValues: ['ES512'],
      clientAuthSigningAlgValues: ['EdDSA'],
    },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: undefined },
    findAccount: (_ctx, id) => account(id),
    ttl: { AccessToken: 3600, AuthorizationCode: 60, IdToken: 60, Session: 8 * 3600, Grant: 8 * 3600 },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope,
          audience: resource,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES512' } },
        }),
      },
    },
  });

  async function grantOf(accountId, clientId) {
    const grant = new provider.Grant({ accountId, clientId });
    grant.addOIDCScope(scope);
    grant.addResourceScope(resource, scope);
    return grant.save(8 * 3600);
  }

  const cookies = [];
  for (let worker = 0; worker < Number(process.env.WORKERS); worker += 1) {
    const accountId = `person-${worker}`;
    const session = new provider.Session();
    session.loginAccount({ accountId, loginTs: Math.floor(Date.now() / 1000), amr: ['swk'] });
    session.authorizations = {};
    for (const clientId of ['public', 'confidential']) {
      const sid = randomBytes(16).toString('base64url');
      session.authorizations[clientId] = { sid, grantId: await grantOf(accountId, clientId) };
    }
    await session.save(8 * 3600);
    cookies.push(`_session=${session.id}`);
  }

  const userInfoToken = await new provider.AccessToken({
    accountId: 'person-0',
    client: await provider.Client.find('public'),
    grantId: await grantOf('person-0', 'public'),
    gty: 'authorization_code',
    scope,
    claims: {},
  }).save(3600);

  const { version } = JSON.parse(readFileSync(new URL('../node_modules/oidc-provider/package.json', import.meta.url)));
  provider.listen(port, '127.0.0.1', () => {
    const ready = {
      version,
      issuer,
      authorizePath: '/auth',
      tokenPath: '/token',
      userInfoPath: '/me',
      userInfoToken,
      cookies,
      clients: {
        public: { clientId: 'public', redirectUri, resource },
        confidential: {
          clientId: 'confidential',
          redirectUri,
          resource,
          privateJwk: clientPair.privateKey.export({ format: 'jwk' }),
        },
      },
    };
    process.stdout.write(`${JSON.stringify(ready)}\n`);
  });
}
