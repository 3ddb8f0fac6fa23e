/** The published test vectors, with the server's verifier and both SDKs (decisions/0177). */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { calculateJwkThumbprint, decodeProtectedHeader, type JWK } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { signProof } from '../../shared/browser/src/device-proof.ts';
import { open, seal } from '../../shared/node/src/delegation/envelope.ts';
import { privateKey, publicKey } from '../../shared/node/src/delegation/keys.ts';
import { openRequest } from '../src/delegation/envelope.ts';
import { checkProof, type ProofContext } from '../src/domain/credentials/proof.ts';
import type { LoadedPair } from '../src/domain/delegation/delegation-keys.ts';

interface Case {
  name: string;
  kind: 'use' | 'registration';
  proof: string;
  text: string;
  valid: boolean;
  fault?: string;
  error?: string;
}
type Vectors = Record<'cases' | 'requests' | 'responses', Case[]> & Record<string, any>;

const vectors = (name: string): Vectors =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../shared/contracts/vectors/${name}.json`), 'utf8'));

describe('vectors of device proofs', () => {
  const { key, jkt, expected, cases } = vectors('device-proof');
  const { kty, crv, x, y } = key as Required<JWK>;
  const publicJwk = { kty: kty as 'EC', crv: crv as 'P-256', x, y };
  const body = Buffer.from(expected.body);
  const context = (kind: 'use' | 'registration'): ProofContext => {
    const at = expected.aud.lastIndexOf('/');
    return {
      key: kind === 'use' ? { kind: 'stored', jkt, jwk: publicJwk, alg: 'ES256' } : { kind },
      ...{ act: expected.act, issuer: expected.aud.slice(0, at), projectId: expected.aud.slice(at + 1) },
      ...{ clientId: expected.cid, origin: expected.org, originAllowed: true, txn: expected.txn, stateAllows: true },
      ...{ codeChallenge: expected.cc, jkt, body, nowSeconds: expected.now },
      consumeNonce: async (nonce) => nonce === expected.nonce,
    };
  };

  it('name the key by its thumbprint', async () => expect(await calculateJwkThumbprint(publicJwk)).toBe(jkt));

  it.each(cases)('$name: valid is $valid', async ({ proof, kind, valid, fault }) => {
    const verdict = await checkProof(proof, context(kind));
    if (valid) expect(verdict).toMatchObject({ valid: true, jkt });
    else expect(verdict).toEqual({ valid: false, fault });
  });

  it.each(['use', 'registration'] as const)('have the proof of the browser SDK: %s', async (kind) => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
    const imported = await crypto.subtle.importKey('jwk', key, algorithm, false, ['sign']);
    const owner = { issuer: '', clientId: expected.cid, userid: '', registered: true, usedAt: 0 };
    const device = { ...owner, kid: jkt, publicJwk, privateKey: imported };
    const { body: _, now, ...claims } = expected;
    const proof = await signProof(device, kind, claims, new Uint8Array(body), now * 1000);
    expect(await checkProof(proof, context(kind))).toMatchObject({ valid: true });
    const { jti: _own, ...sent } = payloadOf(proof);
    const model = cases.find((one) => one.valid && one.kind === kind)?.proof ?? '';
    const { jti: _of, ...wanted } = payloadOf(model);
    expect([decodeProtectedHeader(proof), sent]).toEqual([decodeProtectedHeader(model), wanted]);
  });
});

const payloadOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());

describe('vectors of delegation', () => {
  const { keys, expected, request, requests, response, responses } = vectors('delegation');
  const { backEnd, service } = keys;
  const parties = async () => {
    const kid = async (pem: string) => calculateJwkThumbprint(createPublicKey(pem).export({ format: 'jwk' }) as JWK);
    const kids = async (side: typeof service) => ({
      signingKid: await kid(side.signing.public),
      encryptionKid: await kid(side.encryption.public),
    });
    const of = { signing: backEnd.signing.public, encryption: backEnd.encryption.public };
    const sp: LoadedPair = {
      ...(await kids(backEnd)),
      signing: createPublicKey(of.signing),
      encryption: createPublicKey(of.encryption),
    };
    const own = { signing: service.signing.private, encryption: service.encryption.private };
    const idp: LoadedPair = {
      ...(await kids(service)),
      signing: createPrivateKey(own.signing),
      encryption: createPrivateKey(own.encryption),
    };
    return { sp: [sp], idp: [idp] };
  };
  const ofLibrary = {
    signing: privateKey(backEnd.signing.private, 'ed25519'),
    decryption: privateKey(backEnd.encryption.private, 'x25519'),
    verification: publicKey(service.signing.public, 'ed25519'),
    encryption: publicKey(service.encryption.public, 'x25519'),
  };
  const read = async (text: string) => {
    const { clientId, audience, now: nowSeconds } = expected;
    const { verdict } = await openRequest(text, await parties(), { clientId, audience, nowSeconds });
    return verdict;
  };
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: expected.now * 1000 }));
  afterEach(() => vi.useRealTimers());

  it.each(requests)('request: $name: valid is $valid', async ({ text, valid, error }) => {
    const verdict = await read(text).catch(() => ({ valid: false, code: 'REQUEST_REJECTED' }));
    if (valid) expect(verdict).toMatchObject({ valid: true, request: { op: request.op, body: request.body } });
    else expect(verdict).toMatchObject({ valid: false, code: error });
  });

  it.each(responses)('response: $name: valid is $valid', async ({ text, valid, error }) => {
    const sent = {
      text: requests[0]?.text ?? '',
      jti: request.jti,
      issuer: expected.clientId,
      audience: expected.audience,
    };
    const opened = open(ofLibrary, sent, text);
    if (valid) expect(await opened).toEqual(response);
    else await expect(opened).rejects.toMatchObject({ code: error });
  });

  it('have the request of the server library', async () => {
    const { aud: audience, body, iss: issuer, op } = request;
    const { text } = await seal(ofLibrary, { issuer, audience, op, body });
    const verdict = await read(text);
    expect(verdict).toMatchObject({ valid: true, request: { ...request, jti: expect.any(String) } });
  });
});
