import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json } from '../test/listen.ts';
import { makeKey, nowSeconds, startProvider, type TestProvider } from '../test/provider.ts';
import { InvalidPublicKeyError, JWTVerificationError, OAuthExchangeError } from './error.ts';
import { type ExchangeCodeForClaimsOptions, exchangeCodeForClaims, exchangeCodeForTokenAndClaims } from './exchange.ts';

let provider: TestProvider;

beforeEach(async () => {
  provider = await startProvider();
});
afterEach(() => provider.close());

const options = (more: Partial<ExchangeCodeForClaimsOptions> = {}): ExchangeCodeForClaimsOptions => ({
  code: 'the-code',
  oauthTokenUrl: `${provider.url}/oauth2/token`,
  clientId: provider.clientId,
  apiKey: provider.apiKey,
  jwksUrl: `${provider.url}/.well-known/jwks.json`,
  issuer: provider.url,
  ...more,
});

async function thrownBy(work: Promise<unknown>): Promise<OAuthExchangeError & JWTVerificationError> {
  return (await work.then(
    () => expect.fail('it did not throw'),
    (error: unknown) => error,
  )) as OAuthExchangeError & JWTVerificationError;
}

describe('exchangeCodeForClaims', () => {
  it('sends code, client and secret key, and returns the verified claims', async () => {
    const claims = await exchangeCodeForClaims(options());
    expect(claims).toMatchObject({
      sub: 'user-1',
      email: 'ada@example.com',
      email_verified: true,
      aud: provider.clientId,
    });
    const [request] = provider.requests;
    expect(Object.fromEntries(request?.form ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      client_id: provider.clientId,
    });
    expect(request?.headers).toMatchObject({
      'x-api-key': provider.apiKey,
      'content-type': 'application/x-www-form-urlencoded',
    });
  });

  it('sends the verifier and the redirect URI if given', async () => {
    await exchangeCodeForClaims(options({ codeVerifier: 'v'.repeat(43), redirectUri: 'https://app.example.com/cb' }));
    expect(Object.fromEntries(provider.requests[0]?.form ?? [])).toMatchObject({
      code_verifier: 'v'.repeat(43),
      redirect_uri: 'https://app.example.com/cb',
    });
  });

  it('treats null, the verifier of a page without one, as absent', async () => {
    expect(await exchangeCodeForClaims(options({ codeVerifier: null }))).toMatchObject({ sub: 'user-1' });
    expect(provider.requests[0]?.form.has('code_verifier')).toBe(false);
  });

  it('rejects an ID token for others as well, unless its azp is the client', async () => {
    const { clientId } = provider;
    provider.nextIdToken = await provider.idToken({ aud: [clientId, 'another-client'] });
    expect(await thrownBy(exchangeCodeForClaims(options()))).toMatchObject({ code: 'AUDIENCE_MISMATCH' });
    provider.nextIdToken = await provider.idToken({ aud: [clientId, 'another-client'], azp: clientId });
    expect(await exchangeCodeForClaims(options())).toMatchObject({ sub: 'user-1' });
    provider.nextIdToken = await provider.idToken({ aud: [clientId] });
    expect(await exchangeCodeForClaims(options())).toMatchObject({ sub: 'user-1' });
  });

  it('verifies with a pinned key, which takes precedence over jwksUrl', async () => {
    const { jwksUrl: _, ...rest } = options();
    expect(await exchangeCodeForClaims({ ...rest, publicKey: provider.key.pem })).toMatchObject({ sub: 'user-1' });
    const other = await makeKey('ES512');
    const error = await thrownBy(exchangeCodeForClaims(options({ publicKey: other.pem })));
    expect(error).toMatchObject({ name: 'JWTVerificationError', code: 'SIGNATURE_INVALID' });
  });

  it('returns the tokens too, if requested', async () => {
    expect(await exchangeCodeForTokenAndClaims(options())).toMatchObject({
      idToken: expect.stringMatching(/^ey/),
      accessToken: 'opens-userinfo',
      tokenType: 'Bearer',
      expiresIn: 300,
      scope: 'openid profile email phone',
      claims: { sub: 'user-1' },
    });
  });

  it.each<[string, Record<string, unknown>, object, string]>([
    ['from another issuer', { iss: 'https://evil.example' }, {}, 'ISSUER_MISMATCH'],
    ['for another client', { aud: 'another-client' }, {}, 'AUDIENCE_MISMATCH'],
    ['issued to another client', { azp: 'another-client' }, {}, 'AUDIENCE_MISMATCH'],
    ['that has expired', { exp: nowSeconds() - 1 }, {}, 'EXPIRED'],
    ['that is not valid yet', { nbf: nowSeconds() + 30 }, {}, 'NOT_YET_VALID'],
    ['without a subject', { sub: undefined }, {}, 'CLAIM_MISSING'],
    ['with an empty subject', { sub: '' }, {}, 'CLAIM_INVALID'],
    ['without an expiry', { exp: undefined }, {}, 'CLAIM_MISSING'],
    ['that is an access token', {}, { typ: 'at+jwt' }, 'TYPE_MISMATCH'],
    ['that is a logout token', {}, { typ: 'secevent+jwt' }, 'TYPE_MISMATCH'],
    ['with an unknown key', {}, { kid: 'unknown' }, 'UNKNOWN_KEY'],
  ])('rejects an ID token %s', async (_, claims, header, code) => {
    provider.nextIdToken = await provider.idToken(claims, header);
    const error = await thrownBy(exchangeCodeForClaims(options()));
    expect(error).toBeInstanceOf(JWTVerificationError);
    expect(error.code).toBe(code);
  });

  it('rejects an ID token of any algorithm but ES512', async () => {
    const rsa = await makeKey('RS256');
    provider.nextIdToken = await provider.idToken({}, {}, rsa);
    const error = await thrownBy(exchangeCodeForClaims(options({ publicKey: rsa.pem })));
    expect(error.code).toBe('ALGORITHM_NOT_ALLOWED');
    expect(await exchangeCodeForClaims(options({ publicKey: rsa.pem, algorithms: ['RS256'] }))).toMatchObject({
      sub: 'user-1',
    });
  });

  it('checks the nonce if one was sent, and rejects a missing one', async () => {
    expect((await thrownBy(exchangeCodeForClaims(options({ nonce: 'n' })))).code).toBe('NONCE_MISMATCH');
    provider.nextIdToken = await provider.idToken({ nonce: 'n' });
    expect(await exchangeCodeForClaims(options({ nonce: 'n' }))).toMatchObject({ nonce: 'n' });
  });

  it('allows a leeway', async () => {
    provider.nextIdToken = await provider.idToken({ exp: nowSeconds() - 5 });
    expect(await exchangeCodeForClaims(options({ leeway: 30 }))).toMatchObject({ sub: 'user-1' });
  });

  it('validates key and options before it uses the code', async () => {
    const { jwksUrl: _, ...noKey } = options();
    const wrong: [ExchangeCodeForClaimsOptions, string][] = [
      [options({ code: '' }), 'INVALID_OPTIONS'],
      [options({ clientId: undefined as never }), 'INVALID_OPTIONS'],
      [options({ apiKey: '' }), 'INVALID_OPTIONS'],
      [options({ apiKey: 'lk_sk_\nx' }), 'INVALID_OPTIONS'],
      [options({ oauthTokenUrl: 'no address' }), 'INVALID_OPTIONS'],
      [options({ audience: '' }), 'INVALID_OPTIONS'],
      [options({ leeway: Number.NaN }), 'INVALID_OPTIONS'],
      [options({ codeVerifier: '' }), 'INVALID_OPTIONS'],
      [options({ timeoutMs: 0 }), 'INVALID_OPTIONS'],
      [options({ oauthTokenUrl: 'http://id.example.com/oauth2/token' }), 'INSECURE_URL'],
      [options({ jwksUrl: 'http://id.example.com/jwks' }), 'INSECURE_URL'],
      [options({ publicKey: 'no key' }), 'KEY_FILE_UNREADABLE'],
      [options({ publicKey: '-----BEGIN PUBLIC KEY-----' }), 'KEY_MALFORMED'],
      [noKey, 'KEY_MISSING'],
    ];
    for (const [bad, code] of wrong) {
      const error = await thrownBy(exchangeCodeForClaims(bad));
      expect(error.code).toBe(code);
      expect(error).toBeInstanceOf(code.startsWith('KEY_') ? InvalidPublicKeyError : OAuthExchangeError);
    }
    provider.override['/.well-known/jwks.json'] = (_req, res) => json(res, 500, {});
    expect((await thrownBy(exchangeCodeForClaims(options()))).code).toBe('JWKS_UNAVAILABLE');
    expect(provider.requests).toEqual([]);
  });
});

describe('failed exchange', () => {
  const answers = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    provider.override['/oauth2/token'] = (_req, res) => json(res, status, body, headers);
  };

  it.each([
    [400, 'invalid_grant', 'INVALID_GRANT'],
    [401, 'invalid_client', 'INVALID_CLIENT'],
    [400, 'invalid_request', 'INVALID_REQUEST'],
    [503, 'temporarily_unavailable', 'TEMPORARILY_UNAVAILABLE'],
    [400, 'unsupported_grant_type', 'REFUSED'],
    [500, 'server_error', 'SERVER_ERROR'],
  ])('%i %s is an OAuthExchangeError', async (status, error, code) => {
    answers(status, { error, error_description: 'Why.' }, { 'Retry-After': '5', 'X-Request-Id': 'r-1' });
    const thrown = await thrownBy(exchangeCodeForClaims(options()));
    expect(thrown).toBeInstanceOf(OAuthExchangeError);
    expect(thrown).toMatchObject({ code, status, error, errorDescription: 'Why.', retryAfter: 5, requestId: 'r-1' });
    expect(thrown.message).toContain(`status ${status}: ${error} (Why.).`);
    expect(provider.requests).toHaveLength(1);
  });

  it('has the description in one line of its message', async () => {
    answers(401, { error: 'invalid_client', error_description: `a\n\u001b[2J‘b’${'c'.repeat(400)}` });
    const { message } = await thrownBy(exchangeCodeForClaims(options()));
    expect(message).toMatch(/: invalid_client \(a {2}\[2J‘b’c{290,}\)\. Check that apiKey/);
  });

  it.each<[string, number, unknown, string]>([
    ['a plain 500', 500, 'oops', 'SERVER_ERROR'],
    ['a 502 from a proxy', 502, '<html>', 'SERVER_ERROR'],
    ['a 429', 429, {}, 'TEMPORARILY_UNAVAILABLE'],
    ['a 404', 404, {}, 'ENDPOINT_NOT_FOUND'],
    ['200 without a token', 200, { access_token: 'x' }, 'RESPONSE_INVALID'],
    ['200 with an invalid token', 200, { id_token: 7 }, 'RESPONSE_INVALID'],
    ['200 with a list', 200, [], 'RESPONSE_INVALID'],
    ['200 with null', 200, null, 'RESPONSE_INVALID'],
    ['400 with nonsense', 400, { error: { deep: true } }, 'RESPONSE_INVALID'],
    ['an oversized response', 200, { id_token: 'x'.repeat(100_000) }, 'RESPONSE_TOO_LARGE'],
  ])('%s is an OAuthExchangeError', async (_, status, body, code) => {
    answers(status, body);
    const thrown = await thrownBy(exchangeCodeForClaims(options()));
    expect(thrown).toBeInstanceOf(OAuthExchangeError);
    expect(thrown.code).toBe(code);
  });

  it('rejects a token that is not a JWT', async () => {
    answers(200, { id_token: 'nonsense' });
    expect(await thrownBy(exchangeCodeForClaims(options()))).toMatchObject({
      name: 'JWTVerificationError',
      code: 'MALFORMED',
    });
  });

  it('does not follow redirects, which would leak the code', async () => {
    let reached = false;
    provider.override['/elsewhere'] = () => {
      reached = true;
    };
    for (const status of [301, 302, 303, 307, 308]) {
      provider.override['/oauth2/token'] = (_req, res) => void res.writeHead(status, { Location: '/elsewhere' }).end();
      expect((await thrownBy(exchangeCodeForClaims(options()))).code).toBe('REDIRECTED');
    }
    expect(reached).toBe(false);
  });

  it('distinguishes network error, timeout and abort', async () => {
    const gone = await startProvider();
    await gone.close();
    const refused = await thrownBy(exchangeCodeForClaims(options({ oauthTokenUrl: `${gone.url}/oauth2/token` })));
    expect(refused.code).toBe('NETWORK');
    expect(refused.cause).toBeInstanceOf(Error);
    provider.override['/oauth2/token'] = () => {};
    expect((await thrownBy(exchangeCodeForClaims(options({ timeoutMs: 50 })))).code).toBe('TIMEOUT');
    const signal = AbortSignal.abort();
    expect((await thrownBy(exchangeCodeForClaims(options({ signal })))).code).toBe('ABORTED');
  });

  it('never contains the code or the key', async () => {
    answers(400, { error: 'invalid_grant' });
    const error = await thrownBy(exchangeCodeForClaims(options({ code: 'secret-code' })));
    const text = JSON.stringify({ ...error, message: error.message, stack: error.stack });
    expect(text).not.toContain('secret-code');
    expect(text).not.toContain(provider.apiKey);
    expect(error.message).toContain('have the user sign in again');
  });
});
