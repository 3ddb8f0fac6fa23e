import type { CryptoKey } from 'jose';
import { toBase64url, utf8 } from '../bytes.ts';
import { OptionFault, pemOf } from '../delegation/keys.ts';
import { OAuthExchangeError } from '../error.ts';
import type { Authentication } from '../exchange.ts';
import { jose } from '../jose.ts';
import { derIn, keyFormatOf } from '../key-format.ts';
import type { LatchkeyOptions } from './options.ts';

/** Algorithm of assertions for each type of key (RFC 7518 §3.1, RFC 8037 §3.1). */
const algorithms: Record<string, string> = { ed25519: 'EdDSA', 'P-256': 'ES256', rsa: 'RS256' };
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const lifetimeSeconds = 60;

/** Authenticates the client once per call: each assertion is used once. Throws `OAuthExchangeError` for an unusable key. */
export function authenticatorOf(options: LatchkeyOptions<unknown>): () => Promise<Authentication> {
  const { apiKey, clientId, clientSecret, privateKey, tokenEndpointAuthMethod } = options;
  if (privateKey !== undefined) return assertions(options, privateKey);
  if (clientSecret === undefined) return async () => ({ headers: { 'X-Api-Key': apiKey ?? '' } });
  if (tokenEndpointAuthMethod === 'client_secret_post') return async () => ({ form: { client_secret: clientSecret } });
  return async () => ({ headers: { Authorization: basic(clientId, clientSecret) } });
}

/** Both parts are form-encoded (RFC 6749 §2.3.1). */
function basic(clientId: string, clientSecret: string): string {
  const [user, password] = [clientId, clientSecret].map((part) =>
    new URLSearchParams({ '': part }).toString().slice(1),
  );
  return `Basic ${btoa(String.fromCharCode(...utf8(`${user}:${password}`)))}`;
}

/** `private_key_jwt` (RFC 7523 §3). The audience is only the issuer, so that no other server can use an assertion. */
function assertions({ clientId, issuer, keyId }: LatchkeyOptions<unknown>, privateKey: string) {
  const { alg, pem } = checkedKey(privateKey);
  let importing: Promise<CryptoKey> | undefined;
  return async (): Promise<Authentication> => {
    const { importPKCS8, SignJWT } = await jose();
    importing ??= importPKCS8(pem, alg);
    const key = await importing.catch((cause: unknown) => invalid('cannot be read', cause));
    const now = Math.floor(Date.now() / 1000);
    const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: issuer, iat: now })
      .setExpirationTime(now + lifetimeSeconds)
      .setJti(toBase64url(crypto.getRandomValues(new Uint8Array(16))))
      .setProtectedHeader({ alg, ...(keyId !== undefined && { kid: keyId }) })
      .sign(key);
    return { form: { client_assertion_type: assertionType, client_assertion: assertion } };
  };
}

/** Runs the checks that are possible at construction; Web Crypto imports keys asynchronously. */
function checkedKey(privateKey: unknown): { alg: string; pem: string } {
  if (typeof privateKey !== 'string' || privateKey === '') return invalid('must be a PEM or its path');
  try {
    const pem = pemOf(privateKey);
    const der = derIn(pem, 'PRIVATE KEY');
    const format = der && keyFormatOf(der);
    if (!format?.isPrivate) return invalid('is not a PEM that begins with "-----BEGIN PRIVATE KEY-----"');
    const alg = algorithms[format.type];
    return alg === undefined ? invalid(`is a key of type ${format.type}, not Ed25519, P-256 or RSA`) : { alg, pem };
  } catch (error) {
    if (!(error instanceof OptionFault)) throw error;
    return invalid(error.message);
  }
}

function invalid(problem: string, cause?: unknown): never {
  throw new OAuthExchangeError('INVALID_OPTIONS', `privateKey ${problem}.`, { cause });
}
