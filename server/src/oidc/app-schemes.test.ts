/** Native apps with a private-use scheme (RFC 8252 sections 7.1 and 8.6), at the issuer of their project. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';

const uri = 'com.example.app:/oauth2redirect';
const leaving = 'com.example.app:/signed-out';

let app: TestApp;
let project: Project;
let client: Client;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
  project = await app.make.project({ name: 'Apps' });
  const user = await app.make.user(project);
  ({ client } = await app.make.client(project, { redirectUris: [uri], postLogoutRedirectUris: [leaving] }));
  rp = new RelyingParty(app, client, `${app.url}/p/${project.slug}`);
  await rp.signIn(user);
});

afterAll(() => app.close());

describe('an app with its own scheme', () => {
  it('gets a code there, which its verifier redeems once', async () => {
    const code = await rp.code({ redirect_uri: uri });
    const exchanged = await rp.exchange(code, { redirect_uri: uri });
    expect(await exchanged.json()).toMatchObject({ id_token: expect.any(String) });
    expect((await rp.exchange(code, { redirect_uri: uri })).status).toBe(400);
  });

  it('gets errors there, too', async () => {
    const answer = await rp.answer({ redirect_uri: uri, scope: 'email', prompt: 'none' });
    expect(answer.get('error')).toBe('invalid_scope');
  });

  it('must send a challenge', async () => {
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    expect((await rp.answer({ redirect_uri: uri, ...without })).get('error')).toBe('invalid_request');
  });

  it.each(['com.example.app:/other', 'com.example.other:/oauth2redirect', 'javascript:/alert(1)', `${uri}?x=1`])(
    'gets no redirect to %s',
    async (other) => {
      const response = await rp.authorize({ redirect_uri: other });
      expect(response.status).toBe(400);
      expect(response.headers.get('location')).toBeNull();
    },
  );

  it('gets none from the base issuer', async () => {
    const base = new RelyingParty(app, client);
    const response = await base.authorize({ redirect_uri: uri });
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
  });

  it('is returned to after sign-out', async () => {
    const { id_token } = await rp.tokens({ redirect_uri: uri });
    const response = await rp.endSession({ id_token_hint: id_token, post_logout_redirect_uri: leaving, state: 's' });
    expect(response.headers.get('location')).toBe(`${leaving}?state=s`);
  });
});

describe('a client with the scheme of an app', () => {
  it.each(['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const)(
    'is refused with %s, by the address: any app on a device can claim the scheme',
    async (tokenEndpointAuthMethod) => {
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
      const settings = {
        ...{
          projectId: project.id,
          name: 'Secret',
          tokenEndpointAuthMethod,
          redirectUris: ['https://a.example.com/cb', uri],
        },
        ...(tokenEndpointAuthMethod === 'private_key_jwt' && { jwks: { keys: [jwk] } }),
      };
      await expect(app.services.clients.create(settings as never, system)).rejects.toMatchObject({
        problem: { code: 'invalid', field: 'redirectUris[1]' },
      });
    },
  );

  it('stays public: a secret is refused, and the client is unchanged', async () => {
    const change = app.services.clients.update(client, { tokenEndpointAuthMethod: 'client_secret_basic' }, system);
    await expect(change).rejects.toMatchObject({ problem: { code: 'invalid', field: 'redirectUris[0]' } });
    expect((await rp.authorize({ redirect_uri: uri, prompt: 'none' })).status).toBe(303);
  });
});
