import { X509Certificate } from 'node:crypto';
import { certificateKeyFault } from '../../kernel/public-keys/public-key.ts';
import { digest } from '../../kernel/secret.ts';
import type { PasskeyModels } from '../../projects/passkey-models.ts';

/** The models of which a registration must prove one, and the time of the check. */
export interface DemandedModel extends PasskeyModels {
  now: Date;
}

/** A statement whose signature has been verified with the key of its first certificate. */
interface VerifiedStatement {
  format: string;
  /** DER, the authenticator's first; undefined: none. */
  certificates: unknown;
  /** UUID, signed by the statement. */
  aaguid: string;
}

/**
 * `attestation-missing`: none. `self-attestation`: signed by the passkey's own key. `attestation-format`: of a format
 * without certificate path. `model`: not in the list. `attestation-root`: no path to a root.
 */
export type ModelFault =
  | 'attestation-missing'
  | 'self-attestation'
  | 'attestation-format'
  | 'model'
  | 'attestation-root';

/** Formats whose certificates identify the model. */
const certified = ['packed', 'tpm'];
/** Maximum number of certificates of a path, without its root. */
const maxPath = 4;

/**
 * Whether the statement proves an allowed model. Without roots its certificate may be anyone's, and the model is only a
 * claim of the authenticator. Returns the root that it leads to, as SHA-256 in base64url.
 */
export function checkModel(
  { format, certificates, aaguid }: VerifiedStatement,
  { aaguids, roots, now }: DemandedModel,
): { root: string | null } | ModelFault {
  if (format === 'none') return 'attestation-missing';
  if (!certified.includes(format)) return 'attestation-format';
  // For any other value, the library verifies the statement with the passkey's own key.
  if (!Array.isArray(certificates)) return 'self-attestation';
  if (aaguids.length > 0 && !aaguids.includes(aaguid)) return 'model';
  if (roots.length === 0) return { root: null };
  const root = rootOf(certificates, roots, now);
  return root === null ? 'attestation-root' : { root };
}

/**
 * The root at the end of a path (RFC 5280 section 6.1): each certificate is valid now and signed by the next one, which is a CA.
 * No revocation list is requested. Path length and name constraints are not evaluated (decisions/0134).
 */
function rootOf(certificates: Uint8Array[], roots: readonly string[], now: Date): string | null {
  const path = parsed(certificates);
  if (!path || path[0]?.ca) return null;
  const anchors = roots
    .map((pem) => new X509Certificate(pem))
    .filter((root) => isValid(root, now) && hasSoundKey(root));
  for (const [index, certificate] of path.entries()) {
    if (!isValid(certificate, now)) return null;
    const anchor = anchors.find((root) => root.raw.equals(certificate.raw) || isIssuedBy(certificate, root));
    if (anchor) return rootDigest(anchor);
    const issuer = path[index + 1];
    if (!issuer || !isIssuedBy(certificate, issuer)) return null;
  }
  return null;
}

/** SHA-256 of a certificate in base64url. */
export function rootDigest(root: X509Certificate): string {
  return digest(root.raw);
}

/**
 * Null unless each is one certificate in DER, with a sound key and without further bytes. If the bytes also contain a
 * certificate in PEM, Node.js would read that one, but the library has verified the statement with the key of the one
 * in DER.
 */
function parsed(certificates: Uint8Array[]): X509Certificate[] | null {
  if (certificates.length > maxPath) return null;
  try {
    const path = certificates.map((bytes) => new X509Certificate(bytes));
    const isDer = path.every(({ raw }, index) => raw.equals(certificates[index] as Uint8Array));
    return isDer && path.every(hasSoundKey) ? path : null;
  } catch {
    return null;
  }
}

function hasSoundKey(certificate: X509Certificate): boolean {
  return certificateKeyFault(certificate) === null;
}

function isValid({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  return validFromDate <= now && now <= validToDate;
}

/** Digests that a certificate may be signed with: not MD5, not SHA-1. */
const strong = /sha-?(256|384|512)|ed25519/i;

/** Checks name, key identifier, key usage and signature. */
function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const isStrong = strong.test(certificate.signatureAlgorithm ?? '');
  return isStrong && issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
