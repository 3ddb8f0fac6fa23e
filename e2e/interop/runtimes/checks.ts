/** The checks that run in each runtime: one module, bundled with the sources of the server library. */
import { open } from '../../../shared/node/src/delegation/envelope.ts';
import { privateKey, publicKey } from '../../../shared/node/src/delegation/keys.ts';
import { createLatchkey, DelegationClient, JWTVerificationError } from '../../../shared/node/src/index.ts';

/** Values of a running Latchkey. JSON. */
export interface CheckInput {
  issuer: string;
  clientId: string;
  apiKey: string;
  /** The code of a sign-in that has just ended. */
  code: string;
  sub: string;
  /** Delegation keys in PEM. */
  keys: { spSigningKey: string; spEncryptionKey: string; idpVerifyKey: string; idpEncryptionKey: string };
  /** `shared/contracts/vectors/delegation.json`. */
  vectors: DelegationVectors;
}

interface DelegationVectors {
  keys: Record<'backEnd' | 'service', Record<'signing' | 'encryption', Record<'private' | 'public', string>>>;
  expected: { clientId: string; audience: string; now: number };
  request: { jti: string };
  requests: { text: string }[];
  response: object;
  responses: { name: string; text: string; valid: boolean; error?: string }[];
}

/** Throws at the first difference. Returns the checks that passed. */
export async function check(input: CheckInput): Promise<string> {
  const { apiKey, clientId, code, issuer, keys, sub, vectors } = input;
  const latchkey = createLatchkey({ issuer, clientId, apiKey, leeway: 5 });
  const { claims, idToken } = await latchkey.exchange(code);
  equal('sub of the exchange', claims.sub, sub);
  const verified = await latchkey.verifyIdToken(idToken);
  equal('sub of the ID token', verified.sub, sub);
  const [header, payload, signature = ''] = idToken.split('.');
  const other = signature.startsWith('A') ? 'B' : 'A';
  const altered = `${header}.${payload}.${other}${signature.slice(1)}`;
  const refused = await latchkey.verifyIdToken(altered).catch((error: unknown) => error);
  equal('an altered ID token', refused instanceof JWTVerificationError && refused.code, 'SIGNATURE_INVALID');
  const client = DelegationClient.fromKeys({ ...keys, apiKey, baseUrl: issuer, spId: clientId });
  equal('delegation', (await client.getUserCredentials(sub)).status, 'success');
  const count = await checkVectors(vectors);
  return `exchange, verifyIdToken, delegation, ${count} vectors`;
}

async function checkVectors({ expected, keys, request, requests, response, responses }: DelegationVectors) {
  const { backEnd, service } = keys;
  const ours = {
    signing: privateKey(backEnd.signing.private, 'ed25519'),
    decryption: privateKey(backEnd.encryption.private, 'x25519'),
    verification: publicKey(service.signing.public, 'ed25519'),
    encryption: publicKey(service.encryption.public, 'x25519'),
  };
  const { audience, clientId, now } = expected;
  const sent = { text: requests[0]?.text ?? '', jti: request.jti, issuer: clientId, audience };
  const clock = Date.now;
  Date.now = () => now * 1000;
  try {
    for (const { error, name, text, valid } of responses) {
      const opened = await open(ours, sent, text).catch((thrown: { code?: string }) => thrown.code);
      equal(name, JSON.stringify(opened), JSON.stringify(valid ? response : error));
    }
  } finally {
    Date.now = clock;
  }
  return responses.length;
}

function equal(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what}: ${String(found)} instead of ${String(wanted)}`);
}
