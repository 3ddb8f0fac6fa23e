/** Responses that are malformed, or any input at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { map } from '../../../test/authenticator.ts';
import {
  assertion,
  assertionFault,
  challenge,
  expectation,
  type Json,
  origin,
  registration,
  registrationFault,
  stored,
  withResponse,
} from '../../../test/webauthn-cases.ts';
import { checkAssertion, checkRegistration } from './webauthn.ts';

describe.each<[string, () => Json, (response: unknown) => Promise<string>]>([
  ['a registration', () => registration(), registrationFault],
  ['an assertion', () => assertion(), assertionFault],
])('the JSON of %s', (name, make, faultOf) => {
  const type = name === 'a registration' ? 'webauthn.create' : 'webauthn.get';
  const members = JSON.stringify({ challenge, origin }).slice(1);
  it.each<[string, string | Uint8Array]>([
    ['no client data', ''],
    ['client data that is not JSON', '{'],
    ['an array for client data', '[]'],
    ['null for client data', 'null'],
    ['a member twice', `{"type":"${type}","type":"${type}",${members}`],
    ['a member twice, once escaped', `{"type":"${type}","\\u0074ype":"x",${members}`],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from(`{"type":"${type}","x":"`), Buffer.from([0xff]), Buffer.from(`",${members}`)]),
    ],
    ['a challenge that is a number', `{"type":"${type}","challenge":1,"origin":"${origin}"}`],
    ['no type', `{${members}`],
    ['crossOrigin that is a string', `{"type":"${type}","crossOrigin":"false",${members}`],
    ['client data above the limit', `{"type":"${type}","x":"${'x'.repeat(4096)}",${members}`],
  ])('is refused with %s (malformed)', async (_, text) => {
    const clientDataJSON = Buffer.from(text).toString('base64url');
    expect(await faultOf(withResponse(make(), { clientDataJSON }))).toBe('malformed');
  });

  it.each<[string, (json: Json) => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a string', (json) => JSON.stringify(json)],
    ['an array', (json) => [json]],
    ['1 MB of text', () => 'A'.repeat(1_000_000)],
    ['no response', ({ response: _, ...json }) => json],
    ['another type', (json) => ({ ...json, type: 'password' })],
    ['no type', ({ type: _, ...json }) => json],
    ['no id', ({ id: _, ...json }) => json],
    ['an id of 1 MB', (json) => ({ ...json, id: 'A'.repeat(1_000_000), rawId: 'A'.repeat(1_000_000) })],
    ['an id in base64', (json) => ({ ...json, id: '+/+/', rawId: '+/+/' })],
    ['unused bits in the id', (json) => ({ ...json, id: 'AB', rawId: 'AB' })],
    ['client data that is an object', (json) => withResponse(json, { clientDataJSON: {} })],
    ['client data in base64', (json) => withResponse(json, { clientDataJSON: `${json.response['clientDataJSON']}=` })],
    ['a line break', (json) => withResponse(json, { clientDataJSON: `${json.response['clientDataJSON']}\n` })],
  ])('is refused with %s (malformed)', async (_, change) => {
    expect(await faultOf(change(make()))).toBe('malformed');
  });
});

describe('any input', () => {
  const checked = async (response: unknown) => [
    await checkRegistration(response, expectation),
    checkAssertion(response, stored, expectation),
  ];
  /** Every member of `response`, with bytes changed by `edit`. */
  const bytesOf = fc.constantFrom('clientDataJSON', 'attestationObject', 'authenticatorData', 'signature');
  const samples = [
    registration(),
    registration({ alg: -8, format: 'packed', extensions: map(['x', map(['y', [1, true, 'z']])]) }),
    registration({ alg: -257, format: 'packed' }),
    assertion(),
    assertion({ extensions: map(['x', 1]) }),
  ] as Json[];

  it('never throws (random values)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (value) => {
        for (const verdict of await checked(value)) expect(verdict.valid).toBe(false);
      }),
    );
  });

  it('never throws (random members)', async () => {
    const response = fc.dictionary(bytesOf, fc.oneof(fc.base64String(), fc.string(), fc.anything()));
    await fc.assert(
      fc.asyncProperty(response, async (members) => {
        for (const json of samples)
          for (const verdict of await checked(withResponse(json, members)))
            expect(typeof verdict.valid).toBe('boolean');
      }),
      { numRuns: 50 },
    );
  });

  it('is never valid with a flipped bit in signed data, or truncated', async () => {
    const edits = fc.record({
      sample: fc.constantFrom(...samples),
      name: bytesOf,
      at: fc.nat(),
      bit: fc.nat(7),
      truncate: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(edits, async ({ sample, name, at, bit, truncate }) => {
        const text = sample.response[name];
        if (typeof text !== 'string') return;
        const bytes = Buffer.from(text, 'base64url');
        const offset = at % bytes.length;
        bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit);
        const edited = truncate ? bytes.subarray(0, offset) : bytes;
        const changed = withResponse(sample, { [name]: edited.toString('base64url') });
        const signed = truncate || sample !== samples[0];
        for (const verdict of await checked(changed))
          if (signed) expect(verdict.valid).toBe(false);
          else expect(typeof verdict.valid).toBe('boolean');
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws for any object in an attestation object, or any statement', async () => {
    const { arbitrary } = fc.letrec<{ arbitrary: unknown }>((tie) => ({
      arbitrary: fc.oneof(
        { depthSize: 'small' },
        fc.integer({ min: -70_000, max: 70_000 }),
        fc.string(),
        fc.boolean(),
        fc.uint8Array(),
        fc.array(tie('arbitrary')),
        fc
          .array(fc.tuple(fc.constantFrom('alg', 'sig', 'x5c', 'ver', 1, 3, -1, -2), tie('arbitrary')))
          .map((all) => new Map(all)),
      ),
    }));
    const format = fc.constantFrom('none', 'packed', 'tpm', 'fido-u2f', 'apple', 'android-key');
    await fc.assert(
      fc.asyncProperty(arbitrary, format, async (value, fmt) => {
        const own = { format: fmt, statement: value as never };
        await Promise.all([own, { publicKey: value as never }].map((one) => registrationFault(registration(one))));
      }),
      { numRuns: 200 },
    );
  });

  it('that throws when it is read is malformed', async () => {
    const throwing = new Proxy({}, { get: () => { throw new Error('read'); } }); // biome-ignore format: one line
    expect(await registrationFault(throwing)).toBe('malformed');
    expect(await assertionFault(throwing)).toBe('malformed');
  });
});
