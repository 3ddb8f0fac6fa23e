/**
 * X.509 certificates (RFC 5280) for tests, by default with ECDSA P-256 keys. Node.js can parse certificates but not
 * create them.
 *
 *     const root = newAuthority('Root');
 *     const leaf = newAuthenticatorCertificate(root, { aaguid });
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';

export interface TestCertificate {
  der: Buffer;
  pem: string;
  privateKey: KeyObject;
  subject: Buffer;
}

interface Wanted {
  /** Absent: self-signed. */
  issuer?: TestCertificate | undefined;
  subject: Buffer;
  isAuthority: boolean;
  extensions?: Buffer[];
  validity?: [from: Date, to: Date] | undefined;
  /** Default: a new P-256 pair. */
  pair?: KeyPair | undefined;
}

interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
};
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const octets = (...parts: Uint8Array[]) => der(0x04, ...parts);
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
const yes = der(0x01, Buffer.from([0xff]));

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(0x06, Buffer.from(bytes));
}

function nameOf(members: Record<string, string>): Buffer {
  const types: Record<string, string> = { C: '2.5.4.6', O: '2.5.4.10', OU: '2.5.4.11', CN: '2.5.4.3' };
  return sequence(
    ...Object.entries(members).map(([type, value]) =>
      der(0x31, sequence(oid(types[type] ?? ''), der(type === 'C' ? 0x13 : 0x0c, Buffer.from(value)))),
    ),
  );
}

const time = (at: Date) => der(0x18, Buffer.from(at.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '')));
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
const rsaWithSha256 = sequence(oid('1.2.840.113549.1.1.11'), der(0x05));

function certificate({ issuer, subject, isAuthority, extensions = [], validity, pair }: Wanted): TestCertificate {
  const { privateKey, publicKey } = pair ?? generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = (issuer?.privateKey ?? privateKey).asymmetricKeyType === 'rsa' ? rsaWithSha256 : ecdsaWithSha256;
  const [from, to] = validity ?? [new Date('2020-01-01'), new Date('2120-01-01')];
  const constraints = sequence(oid('2.5.29.19'), yes, octets(sequence(...(isAuthority ? [yes] : []))));
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1]), randomBytes(8)),
    algorithm,
    issuer?.subject ?? subject,
    sequence(time(from), time(to)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(constraints, ...extensions)),
  );
  const signature = sign('sha256', toSign, issuer?.privateKey ?? privateKey);
  const bytes = sequence(toSign, algorithm, bits(signature));
  return { der: bytes, pem: new X509Certificate(bytes).toString().trim(), privateKey, subject };
}

/** A certificate authority; a root if it has no issuer. */
export function newAuthority(
  name: string,
  issuer?: TestCertificate,
  over: { isAuthority?: boolean; validity?: [Date, Date]; pair?: KeyPair } = {},
): TestCertificate {
  return certificate({ issuer, subject: nameOf({ CN: name }), isAuthority: true, ...over });
}

/**
 * A certificate of authenticators (WebAuthn Level 3 section 8.2.1).
 *
 * @param wanted.aaguid value of its extension; absent: none. `revocationList`: address of the list that it names
 */
export function newAuthenticatorCertificate(
  issuer?: TestCertificate,
  wanted: { aaguid?: string; validity?: [Date, Date]; revocationList?: string } = {},
): TestCertificate {
  const { aaguid, validity, revocationList } = wanted;
  const list = revocationList && der(0x86, Buffer.from(revocationList));
  const model = aaguid && octets(octets(Buffer.from(aaguid.replaceAll('-', ''), 'hex')));
  return certificate({
    issuer,
    subject: nameOf({ C: 'SE', O: 'Example', OU: 'Authenticator Attestation', CN: 'Example key' }),
    isAuthority: false,
    extensions: [
      ...(model ? [sequence(oid('1.3.6.1.4.1.45724.1.1.4'), model)] : []),
      ...(list ? [sequence(oid('2.5.29.31'), octets(sequence(sequence(der(0xa0, der(0xa0, list))))))] : []),
    ],
    validity,
  });
}
