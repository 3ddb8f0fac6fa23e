import { X509Certificate } from 'node:crypto';
import { refuse } from '../kernel/problem.ts';
import { certificateKeyFault } from '../kernel/public-keys/public-key.ts';

/** The models of passkeys that users may create; one of the lists is not empty. */
export interface PasskeyModels {
  /** AAGUIDs; empty: every model of the roots. */
  aaguids: readonly string[];
  /** CA certificates in PEM; empty: the authenticator's claim of a model is not verified. */
  roots: readonly string[];
}

const [maxAaguids, maxRoots] = [100, 10];
/** Maximum characters of a certificate in PEM. */
const maxPemLength = 4096;
const aaguidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Reported by authenticators that hide their model. */
const hidden = '00000000-0000-0000-0000-000000000000';

/** The models that a project allows; null: every one. */
export function passkeyModelsOf({
  passkeyAaguids: aaguids,
  passkeyRoots: roots,
}: {
  passkeyAaguids: readonly string[];
  passkeyRoots: readonly string[];
}): PasskeyModels | null {
  return aaguids.length > 0 || roots.length > 0 ? { aaguids, roots } : null;
}

/** AAGUIDs in lower case. Refuses `invalid`. */
export function checkedAaguids(aaguids: readonly string[]): string[] {
  const field = 'passkeyAaguids';
  const unique = listOf(field, aaguids, maxAaguids, (one) => one.trim().toLowerCase());
  if (unique.some((one) => !aaguidForm.test(one) || one === hidden)) {
    refuse({ code: 'invalid', field, reason: 'must contain UUIDs of models, and not only zeros' });
  }
  return unique.sort();
}

/** CA certificates in normalized PEM. Refuses `invalid` for anything else, and for an expired one. */
export function checkedRoots(roots: readonly string[], now: Date): string[] {
  const field = 'passkeyRoots';
  return listOf(field, roots, maxRoots, (pem) => {
    const root = certificateOf(pem);
    if (!root?.ca) return refuse({ code: 'invalid', field, reason: 'must contain one CA certificate in PEM each' });
    if (root.validToDate < now) refuse({ code: 'invalid', field, reason: `has expired: ${root.subject}` });
    const broken = certificateKeyFault(root);
    if (broken) refuse({ code: 'invalid', field, reason: `has a weak key: ${broken.reason}` });
    return root.toString().trim();
  });
}

function certificateOf(pem: string): X509Certificate | null {
  // OpenSSL reads the first certificate and ignores the rest.
  if (pem.length > maxPemLength || pem.split('-----BEGIN').length !== 2) return null;
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
}

function listOf(field: string, values: readonly string[], max: number, normal: (value: string) => string): string[] {
  const isList = Array.isArray(values) && values.every((value) => typeof value === 'string');
  if (!isList || values.length > max) refuse({ code: 'invalid', field, reason: `must contain at most ${max} texts` });
  return [...new Set(values.map(normal))];
}
