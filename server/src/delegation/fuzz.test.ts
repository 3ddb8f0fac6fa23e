import { createPublicKey, type KeyObject } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DelegationWorld, openDelegation, type TestBackEnd } from '../../test/back-end.ts';
import type { TestApp } from '../../test/build-app.ts';

/** Number of envelopes; before a release, run with `FUZZ_ENVELOPES=100000`. */
const count = Number(process.env['FUZZ_ENVELOPES'] ?? 900);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);

let world: DelegationWorld;
let app: TestApp;
let backEnd: TestBackEnd;

beforeAll(async () => {
  world = await openDelegation();
  ({ app, backEnd } = world);
});
afterAll(() => world.close());

/** Mulberry32: deterministic by seed. */
function chance(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const odd: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x',
  [],
  {},
  '__proto__',
  { constructor: 1 },
  '\u0000',
  '\ud800',
  2 ** 53,
];

type Pick = (below: number) => number;
type Alter = (text: string, pick: Pick) => string;

/** Mutations of the text; each changes it. */
const alterations: Alter[] = [
  (text, pick) => flipped(text, pick(text.length), pick),
  (text, pick) => without(text, pick(text.length), 1 + pick(40)),
  (text, pick) => inserted(text, pick(text.length + 1), alphabet[pick(64)] ?? ''),
  (text, pick) => inserted(text, pick(text.length + 1), ['.', '=', ' ', '\n', '\0', 'é', '%2e'][pick(7)] ?? ''),
  (text, pick) => text.slice(0, pick(text.length)),
  (text, pick) => text.slice(1 + pick(text.length - 1)),
  (text, pick) => `${text}${text.slice(pick(text.length))}.`,
  (text, pick) => part(text, pick, () => ''),
  (text, pick) => part(text, pick, (one) => `${one}${one || 'A'}`),
  (text, pick) => part(text, pick, (one) => `A${[...one].reverse().join('')}`),
  (text, pick) => part(text, pick, (one) => (one.endsWith('A') ? `${one.slice(0, -1)}B` : `${one.slice(0, -1)}A`)),
  (text, pick) => header(text, (one) => ({ ...one, [odd[pick(odd.length)] as string]: odd[pick(odd.length)] })),
  (text, pick) => header(text, (one) => ({ ...one, [nth(one, pick)]: odd[pick(odd.length)] })),
  (text, pick) => header(text, ({ [nth({ alg: 1, enc: 1, epk: 1, typ: 1 }, pick)]: _, ...one }) => one),
  (text, pick) => header(text, (one) => ({ ...one, epk: { kty: 'OKP', crv: 'X25519', x: point(pick) } })),
];

function flipped(text: string, at: number, pick: Pick): string {
  const other = alphabet[(alphabet.indexOf(text[at] ?? '') + 1 + pick(62)) % 64] ?? '';
  return text.slice(0, at) + (other === text[at] ? '.' : other) + text.slice(at + 1);
}
function without(text: string, at: number, length: number): string {
  return text.slice(0, at) + text.slice(at + length);
}
function inserted(text: string, at: number, what: string): string {
  return text.slice(0, at) + what + text.slice(at);
}
function part(text: string, pick: Pick, change: (one: string) => string): string {
  const parts = text.split('.');
  const at = [0, 2, 3, 4][pick(4)] ?? 0;
  return parts.map((one, index) => (index === at ? change(one) : one)).join('.');
}
function header(text: string, change: (one: Record<string, unknown>) => object): string {
  const [first = '', ...rest] = text.split('.');
  const changed = JSON.stringify(change(JSON.parse(Buffer.from(first, 'base64url').toString())));
  return [Buffer.from(`${changed} `).toString('base64url'), ...rest].join('.');
}
function nth(one: object, pick: Pick): string {
  const names = Object.keys(one);
  return names[pick(names.length)] ?? '';
}
/** Includes points of small order. */
function point(pick: Pick): string {
  const bytes = Buffer.alloc(32, [0, 1, 255, pick(256)][pick(4)]);
  return bytes.subarray(0, [32, 32, 32, pick(40)][pick(4)]).toString('base64url');
}

/** Accepts an unencrypted 400 or an error in an envelope; describes anything else. */
async function verdict(text: string): Promise<string | null> {
  const { code, payload, status } = await backEnd.send(text).catch((error: unknown) => {
    throw new Error(`no response to ${JSON.stringify(text)}`, { cause: error });
  });
  const refused = payload ? status === 200 && payload.status >= 400 && payload.status < 500 : status === 400;
  return refused && code !== undefined ? null : `${status} ${payload?.status} ${code}: ${JSON.stringify(text)}`;
}

async function expectRefusals(texts: string[]): Promise<void> {
  for (let at = 0; at < texts.length; at += 25) {
    const verdicts = await Promise.all(texts.slice(at, at + 25).map(verdict));
    expect(verdicts.filter((one) => one !== null)).toEqual([]);
  }
  expect(app.logLines.filter((line) => line.includes('delegation failed'))).toEqual([]);
}

describe('a modified envelope is rejected without a server error', () => {
  // Scales with the number of envelopes.
  const timeout = Math.max(480_000, count * 20);

  it('at every position', { timeout }, async () => {
    const text = await backEnd.seal();
    const pick = chance(seed);
    const all = [...text].map((_, at) => flipped(text, at, pick));
    await expectRefusals(count < 10_000 ? all.filter((_, at) => at % 3 === seed % 3 || at > text.length - 30) : all);
    expect((await backEnd.send(text)).payload?.status).toBe(200);
  });

  it('with random mutations from outside', { timeout }, async () => {
    const pick = chance(seed + 1);
    const text = await backEnd.seal();
    const texts = Array.from({ length: count / 2 }, () => alterations[pick(alterations.length)]?.(text, pick) ?? '');
    await expectRefusals(texts.filter((one) => one !== text));
  });

  it('with random mutations inside a valid envelope', { timeout }, async () => {
    const pick = chance(seed + 2);
    const recipient = createPublicKey((await backEnd.ours()).encryption);
    const jws = await innerOf(await backEnd.seal());
    const texts: string[] = [];
    while (texts.length < count / 4) {
      const altered = alterations[pick(alterations.length - 4)]?.(jws, pick) ?? '';
      if (altered !== jws) texts.push(await wrapped(altered, recipient));
    }
    await expectRefusals(texts);
  });

  it('with random claims, signed by the client', { timeout }, async () => {
    const pick = chance(seed + 3);
    const names = ['iss', 'aud', 'iat', 'exp', 'op', 'enc_kid', 'body'];
    const texts: string[] = [];
    while (texts.length < count / 4) {
      const claims = { [names[pick(names.length)] ?? '']: odd[pick(odd.length)] };
      // A random `iat` may be valid, depending on the clock.
      if (claims['iat'] === undefined) texts.push(await backEnd.seal({ claims }).catch(() => 'unsealable'));
    }
    await expectRefusals(texts);
  });
});

/** The signed request inside the envelope, as its sender sees it. */
async function innerOf(sealed: string): Promise<string> {
  const { idp } = await app.services.delegationKeys.load(app.services.db.reader(), backEnd.client);
  const [ours = expect.fail()] = idp;
  return Buffer.from((await compactDecrypt(sealed, ours.encryption)).plaintext).toString();
}

function wrapped(jws: string, recipient: KeyObject): Promise<string> {
  return new CompactEncrypt(Buffer.from(jws))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', typ: 'delegation-req+jwe' })
    .encrypt(recipient);
}
