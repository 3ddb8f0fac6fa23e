/** Responses of the base issuer, byte for byte (service.md 2.7, 4.2, 7): `golden/base-issuer.txt`. */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildTestApp, type TestApp } from '../../test/build-app.ts';
import { type Changes, RelyingParty } from '../../test/relying-party.ts';

let app: TestApp;
let rp: RelyingParty;

beforeAll(async () => {
  app = await buildTestApp();
  const project = await app.make.project();
  const { client } = await app.make.client(project);
  rp = new RelyingParty(app, client);
  await rp.signIn(await app.make.user(project, { phone: '+4930123456' }));
});

afterAll(() => app.close());

/** Status, the headers of the protocol and the body of a response; values that differ in each run have a name. */
async function summaryOf(response: Response): Promise<object> {
  const names = [
    'location',
    'www-authenticate',
    'allow',
    'cache-control',
    'content-type',
    'access-control-allow-origin',
  ];
  const headers = names.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, named(value)]];
  });
  const isPage = response.headers.get('content-type')?.includes('html') === true;
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body: isPage ? '(page)' : named(await response.text()),
  };
}

function named(text: string): string {
  return text
    .replaceAll(encodeURIComponent(app.url), '{base_url}')
    .replaceAll(app.url, '{base_url}')
    .replace(/code=[\w-]{43}/, 'code={code}')
    .replace(/flow=[\w-]{43}/, 'flow={flow}');
}

const authorize: Record<string, Changes> = {
  'a session': {},
  'an unknown client': { client_id: 'nobody' },
  'another redirect_uri': { redirect_uri: 'https://evil.example.com/' },
  'no response_type': { response_type: undefined },
  'another response_type': { response_type: 'token' },
  form_post: { response_mode: 'form_post' },
  'no openid': { scope: 'profile' },
  'no code_challenge': { code_challenge: undefined },
  plain: { code_challenge_method: 'plain' },
  'a short code_challenge': { code_challenge: 'short' },
  'an unknown prompt': { prompt: 'other' },
  'a bad max_age': { max_age: 'x' },
  request: { request: 'x' },
  request_uri: { request_uri: 'https://app.example.com/r' },
  registration: { registration: '{}' },
  'prompt=login': { prompt: 'login' },
};

const exchanges: Record<string, Changes> = {
  'no grant_type': { grant_type: undefined },
  'another grant_type': { grant_type: 'refresh_token' },
  'no code': { code: undefined },
  'no verifier': { code_verifier: undefined },
  'a wrong verifier': { code_verifier: 'w'.repeat(43) },
  'a short verifier': { code_verifier: 'short' },
  'no redirect_uri': { redirect_uri: undefined },
  'an unknown code': { code: 'x'.repeat(43) },
  'no client': { client_id: undefined },
  'an unknown client': { client_id: 'nobody' },
  'an assertion without a type': { client_assertion: 'x.y.z' },
};

it('sends the recorded responses', async () => {
  const get = async (path: string, init?: RequestInit) => summaryOf(await fetch(`${app.url}${path}`, init));
  const sent: Record<string, unknown> = {
    discovery: await get('/.well-known/openid-configuration'),
    'discovery by POST': await get('/.well-known/openid-configuration', { method: 'POST' }),
    'token by GET': await get('/oauth2/token'),
    'resume without a flow': await get('/authorize/resume'),
    'UserInfo without a token': await get('/userinfo'),
    'UserInfo with a wrong token': await get('/userinfo', { headers: { Authorization: 'Bearer x' } }),
    'UserInfo with a token in the query': await get('/userinfo?access_token=x'),
    'logout of an unknown client': await get('/oauth2/end_session?client_id=nobody'),
    'metadata of RFC 8414': await get('/.well-known/oauth-authorization-server'),
  };
  for (const [name, changes] of Object.entries(authorize)) {
    sent[`authorize: ${name}`] = await summaryOf(await rp.authorize(changes));
  }
  for (const [name, changes] of Object.entries(exchanges)) {
    sent[`token: ${name}`] = await summaryOf(await rp.exchange(await rp.code(), changes));
  }
  const jwks = (await (await fetch(`${app.url}/.well-known/jwks.json`)).json()) as { keys: object[] };
  const members = jwks.keys.map((key) =>
    Object.fromEntries(Object.entries(key).filter(([, v]) => String(v).length < 7)),
  );
  sent['keys'] = members.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  const { id_token, access_token, ...answer } = await rp.tokens({ nonce: 'n', scope: 'openid email phone profile' });
  sent['token response'] = answer;
  for (const [name, token] of Object.entries({ id_token, access_token })) {
    const { kid, ...header } = decodeProtectedHeader(token);
    const { iss, aud, ...claims } = decodeJwt(token);
    const issued = { iss: named(String(iss)), aud: aud === rp.client.id ? '{client_id}' : named(String(aud)) };
    sent[name] = {
      header: [...Object.keys(header), String(kid).length],
      alg: header.alg,
      typ: header.typ,
      issued,
      claims: Object.keys(claims),
    };
  }
  await expect(`${JSON.stringify(sent, null, 2)}\n`).toMatchFileSnapshot('golden/base-issuer.txt');
});
