import { type KeyObject, verify } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { SamlError } from './saml-error.ts';
import { keyFault, keyInput, ownSignature, signatureAlgorithm } from './security/algorithms.ts';
import type { SigningKey } from './security/sign.ts';
import { base64, type Verification } from './security/verify.ts';

/** A message in a query (SAML Bindings section 3.4) or a form (section 3.5). */
type MessageName = 'SAMLRequest' | 'SAMLResponse';

const maxMessage = 256 * 1024;
/** SAML Bindings sections 3.4.3 and 3.5.3. */
const maxRelayState = 80;

/** The message of a form. */
export function fromForm(value: string): Buffer {
  if (value.length > maxMessage) throw new SamlError('too-large', 'message');
  return base64(value);
}

/** The message of a query. Inflates at most {@link maxMessage} bytes. */
export function fromQuery(value: string): Buffer {
  const compressed = fromForm(value);
  try {
    return inflateRawSync(compressed, { maxOutputLength: maxMessage });
  } catch (error) {
    const isLarge = error instanceof RangeError;
    throw isLarge ? new SamlError('too-large', 'message') : new SamlError('malformed', 'DEFLATE');
  }
}

/** The value, which is sent back unchanged. Refuses more than 80 bytes. */
export function relayStateOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (Buffer.byteLength(value) > maxRelayState) throw new SamlError('too-large', 'RelayState has more than 80 bytes');
  return value;
}

/**
 * Whether the query has a valid signature (section 3.4.4.1). It covers the encoded parameters, so it is checked over the raw
 * query. Refuses one that is invalid, and a parameter given twice.
 */
export function isQuerySigned(rawQuery: string, name: MessageName, { keys, ...rules }: Verification): boolean {
  const raw = rawParameters(rawQuery);
  const signature = raw.get('Signature');
  if (signature === undefined) return false;
  const algorithm = raw.get('SigAlg') ?? '';
  const method = signatureAlgorithm(decoded(algorithm), rules);
  const fields = [name, 'RelayState', 'SigAlg'].filter((field) => raw.has(field));
  // The text as sent, or encoded again, since some libraries sign one encoding and send another. Both have the same
  // values.
  const inputs = [(sent: string) => sent, (sent: string) => encodeURIComponent(decoded(sent))].map((encoding) =>
    Buffer.from(fields.map((field) => `${field}=${encoding(raw.get(field) ?? '')}`).join('&')),
  );
  const value = base64(decoded(signature));
  const isValid = (key: KeyObject) =>
    key.asymmetricKeyType === method.key &&
    keyFault(key) === null &&
    inputs.some((input) => verify(method.hash, input, keyInput(key), value));
  if (!keys.some(isValid)) throw new SamlError('signature-invalid', 'Signature');
  return true;
}

function rawParameters(rawQuery: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of rawQuery.split('&')) {
    const at = part.indexOf('=');
    // Decoded, as those who read the values do: an encoded name is no way around the signature.
    const name = decoded(at < 0 ? part : part.slice(0, at));
    if (found.has(name)) throw new SamlError('malformed', 'parameter given twice');
    found.set(name, at < 0 ? '' : part.slice(at + 1));
  }
  return found;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', '%20'));
  } catch {
    throw new SamlError('malformed', 'percent-encoding');
  }
}

/** The address that a browser is redirected to, with the signed message in its query. */
export async function redirectTo(
  target: string,
  message: { name: MessageName; xml: string; relayState?: string | undefined },
  key: SigningKey,
): Promise<string> {
  const value = deflateRawSync(message.xml).toString('base64');
  const fields = [`${message.name}=${encodeURIComponent(value)}`];
  if (message.relayState !== undefined) fields.push(`RelayState=${encodeURIComponent(message.relayState)}`);
  fields.push(`SigAlg=${encodeURIComponent(ownSignature)}`);
  const input = fields.join('&');
  const signature = Buffer.from(await key.sign(Buffer.from(input))).toString('base64');
  const separator = target.includes('?') ? '&' : '?';
  return `${target}${separator}${input}&Signature=${encodeURIComponent(signature)}`;
}
