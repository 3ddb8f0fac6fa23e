import { brokenRule, flag, text, timeout } from '../checks.ts';
import { DelegationError } from '../error.ts';
import { checkedUrl, OutgoingError } from '../outgoing.ts';
import type { EnvelopeKeys } from './envelope.ts';
import { OptionFault, privateKey, publicKey } from './keys.ts';

export interface DelegationClientOptions {
  /** Your Ed25519 private key, as a PEM or its path. */
  spSigningKey: string;
  /** Your X25519 private key, as a PEM or its path. */
  spEncryptionKey: string;
  /** The service's Ed25519 public key for this client, as a PEM or its path. */
  idpVerifyKey: string;
  /** The service's X25519 public key for this client, as a PEM or its path. */
  idpEncryptionKey: string;
  /** The service's base URL. */
  baseUrl: string;
  /** Your client ID. */
  spId: string;
  /** The client's secret key, `lk_sk_…`. */
  apiKey: string;
  /** The client's project. Default: requested from the service once. */
  projectId?: string;
  /** Timeout per request. Default: 10,000 ms. */
  timeoutMs?: number;
  /** Allows plain http to hosts other than loopback, for a network of containers. Logged. Default: false. */
  allowInsecureHttp?: boolean;
}

/** Environment variable per option. */
export const variables = {
  apiKey: 'LATCHKEY_API_KEY',
  baseUrl: 'LATCHKEY_BASE_URL',
  spId: 'LATCHKEY_SP_ID',
  spSigningKey: 'SP_ED25519_PRIVATE_KEY_PEM',
  spEncryptionKey: 'SP_X25519_PRIVATE_KEY_PEM',
  idpVerifyKey: 'IDP_ED25519_PUBLIC_KEY_PEM',
  idpEncryptionKey: 'IDP_X25519_PUBLIC_KEY_PEM',
} as const satisfies Partial<Record<keyof DelegationClientOptions, string>>;

type Name = keyof typeof variables;

export function optionsFrom(env: Record<string, string | undefined>): DelegationClientOptions {
  const read = Object.entries(variables).map(([name, variable]) => [name, env[variable] ?? '']);
  return {
    ...(Object.fromEntries(read) as DelegationClientOptions),
    allowInsecureHttp: env['LATCHKEY_ALLOW_INSECURE_HTTP'] === 'true',
  };
}

/**
 * Reads and validates all options. Throws {@link DelegationError} `INVALID_CONFIGURATION` with every problem.
 *
 * @param nameOf name of an option in error messages
 */
export function readKeys(options: DelegationClientOptions, nameOf: (name: Name) => string): EnvelopeKeys {
  if (typeof options !== 'object' || options === null) {
    throw new DelegationError('INVALID_CONFIGURATION', 'options must be an object.', {
      faults: ['options is missing'],
    });
  }
  const faults: string[] = [];
  const read = <T>(name: Name, parse: (value: string) => T): T | undefined => {
    const value: unknown = options[name];
    if (typeof value !== 'string' || value === '') {
      faults.push(`${nameOf(name)} is missing`);
      return undefined;
    }
    try {
      return parse(value);
    } catch (error) {
      if (!(error instanceof OptionFault || error instanceof OutgoingError)) throw error;
      faults.push(`${nameOf(name)} ${error instanceof OptionFault ? error.message : 'is not an https URL'}`);
      return undefined;
    }
  };
  const broken = brokenRule(options, { timeoutMs: timeout, allowInsecureHttp: flag, projectId: text });
  if (broken) faults.push(broken.slice(0, -1));
  read('apiKey', sendable);
  read('baseUrl', (url) => checkedUrl(url, options.allowInsecureHttp));
  read('spId', sendable);
  const signing = read('spSigningKey', (pem) => privateKey(pem, 'ed25519'));
  const decryption = read('spEncryptionKey', (pem) => privateKey(pem, 'x25519'));
  const verification = read('idpVerifyKey', (pem) => publicKey(pem, 'ed25519'));
  const encryption = read('idpEncryptionKey', (pem) => publicKey(pem, 'x25519'));
  if (faults.length === 0 && signing && decryption && verification && encryption) {
    return { signing, decryption, verification, encryption };
  }
  const problem = `Delegation is not configured: ${faults.join('; ')}.`;
  throw new DelegationError('INVALID_CONFIGURATION', problem, { faults });
}

function sendable(value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new OptionFault('contains invalid characters');
  return value;
}
