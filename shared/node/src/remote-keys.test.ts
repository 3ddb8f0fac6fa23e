import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, type Listening, listen } from '../test/listen.ts';
import { makeKey, type TestKey } from '../test/provider.ts';
import { JWTVerificationError } from './error.ts';
import { RemoteKeys } from './remote-keys.ts';

let key: TestKey;
let server: Listening;
let fetches: number;
let answer: Parameters<typeof listen>[0];
let nowMs: number;
let keys: RemoteKeys;

const minute = 60_000;

beforeEach(async () => {
  key = await makeKey('ES512');
  fetches = 0;
  nowMs = 0;
  answer = (_req, res) => json(res, 200, { keys: [key.jwk] });
  server = await listen((req, res) => {
    fetches += 1;
    answer(req, res);
  });
  keys = new RemoteKeys(`${server.url}/jwks.json`, { now: () => nowMs });
});
afterEach(() => server.close());

const find = (kid: string | undefined = key.kid) => keys.find({ alg: 'ES512', kid });

async function codeOf(found: Promise<unknown>): Promise<string> {
  const error = await found.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(JWTVerificationError);
  return (error as JWTVerificationError).code;
}

describe('remote keys (RFC 7517 §5)', () => {
  it('are fetched once for concurrent lookups, and cached for five minutes', async () => {
    await Promise.all(Array.from({ length: 50 }, () => find()));
    nowMs = 5 * minute - 1;
    await find();
    expect(fetches).toBe(1);
    nowMs = 5 * minute;
    await Promise.all([find(), find()]);
    expect(fetches).toBe(2);
  });

  it('are refetched immediately for a new key, even right after another fetch', async () => {
    await find();
    for (let keysWithdrawn = 1; keysWithdrawn <= 3; keysWithdrawn += 1) {
      key = await makeKey('ES512');
      await Promise.all([find(), find(), find()]);
      expect(fetches).toBe(1 + keysWithdrawn);
    }
  });

  it('are refetched once for an unknown kid, then not during the cooldown', async () => {
    const old = key.kid;
    await find();
    key = await makeKey('ES512');
    nowMs = 5 * minute;
    expect(await codeOf(find(old))).toBe('UNKNOWN_KEY');
    expect(fetches).toBe(2);
    await Promise.all(Array.from({ length: 100 }, (_, index) => codeOf(find(`invented-${index}`))));
    expect(fetches).toBe(3);
    await Promise.all(Array.from({ length: 100 }, (_, index) => codeOf(find(`invented-${index}`))));
    expect(fetches).toBe(3);
    nowMs += 30_000;
    await Promise.all(Array.from({ length: 100 }, (_, index) => codeOf(find(`invented-${index}`))));
    expect(fetches).toBe(4);
  });

  it('are matched by type, use and algorithm; without a kid only if unique', async () => {
    const [rsa, other] = await Promise.all([makeKey('RS256'), makeKey('ES512')]);
    let set: object[] = [
      rsa.jwk,
      { kty: 'oct', k: 'AAAA', kid: key.kid },
      { kty: 'future', kid: 'f' },
      null as never,
      key.jwk,
    ];
    answer = (_req, res) => json(res, 200, { keys: set });
    expect((await find()).algorithms).toEqual(['ES512']);
    keys = new RemoteKeys(server.url, { now: () => nowMs });
    expect((await keys.find({ alg: 'ES512', kid: undefined })).algorithms).toEqual(['ES512']);
    expect(await codeOf(keys.find({ alg: 'ES512', kid: rsa.kid }))).toBe('UNKNOWN_KEY');
    set = [key.jwk, other.jwk];
    nowMs = 10 * minute;
    expect(await codeOf(keys.find({ alg: 'ES512', kid: undefined }))).toBe('UNKNOWN_KEY');
    set = [{ ...key.jwk, use: 'enc' }];
    nowMs = 20 * minute;
    expect(await codeOf(find())).toBe('UNKNOWN_KEY');
  });

  it('stay usable for an hour if jwksUrl fails, and no longer', async () => {
    await find();
    answer = (_req, res) => json(res, 500, {});
    nowMs = 6 * minute;
    await find();
    await find();
    expect(fetches).toBe(2);
    nowMs = 60 * minute;
    expect(await codeOf(find())).toBe('JWKS_UNAVAILABLE');
  });

  it('recover automatically', async () => {
    const good = answer;
    answer = (_req, res) => json(res, 503, {});
    expect(await codeOf(find())).toBe('JWKS_UNAVAILABLE');
    answer = good;
    await find();
  });

  it.each<[string, Parameters<typeof listen>[0], string]>([
    ['an HTML page', (_req, res) => void res.end('<!doctype html><title>Sign in</title>'), 'JWKS_INVALID'],
    ['JSON that is not a key set', (_req, res) => json(res, 200, ['keys']), 'JWKS_INVALID'],
    ['keys that are not a list', (_req, res) => json(res, 200, { keys: {} }), 'JWKS_INVALID'],
    ['too many keys', (_req, res) => json(res, 200, { keys: Array(101).fill({}) }), 'JWKS_INVALID'],
    ['far too much', (_req, res) => json(res, 200, { keys: [], fill: 'x'.repeat(300_000) }), 'JWKS_UNAVAILABLE'],
    ['an endless body', endless, 'JWKS_UNAVAILABLE'],
    [
      'a redirect',
      (_req, res) => void res.writeHead(302, { Location: 'http://169.254.169.254/' }).end(),
      'JWKS_UNAVAILABLE',
    ],
    ['404', (_req, res) => json(res, 404, {}), 'JWKS_UNAVAILABLE'],
    ['nothing', (req) => void req.socket.destroy(), 'JWKS_UNAVAILABLE'],
  ])('are rejected if the response is %s', async (_, listener, code) => {
    answer = listener;
    expect(await codeOf(find())).toBe(code);
  });

  it('time out if the response hangs', async () => {
    keys = new RemoteKeys(server.url, { timeoutMs: 50 });
    answer = (_req, res) => void res.writeHead(200).write('{"keys":');
    expect(await codeOf(find())).toBe('JWKS_UNAVAILABLE');
  });

  it.each([
    'http://id.example.com/jwks',
    'file:///etc/passwd',
    'http://localhost.evil.tld/',
    'https://u:p@id.example.com/',
    'x',
  ])('are not fetched from %s', async (url) => {
    expect(await codeOf(new RemoteKeys(url).find({ alg: 'ES512', kid: 'k' }))).toBe('JWKS_INSECURE_URL');
  });
});

/** Sends until the client disconnects. */
function endless(_req: unknown, res: import('node:http').ServerResponse): void {
  const more = () => {
    if (!res.destroyed) res.write('x'.repeat(65_536), () => setImmediate(more));
  };
  more();
}
