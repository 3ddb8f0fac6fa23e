import type { EntityManager } from '@mikro-orm/postgresql';
import type { Random } from '../kernel/random.ts';
import { query, sql } from '../kernel/sql.ts';
import { passkeyKeyOf } from './authenticator-data.ts';
import { Passkey } from './passkey.entity.ts';
import { passkeyName } from './passkey-name.ts';
import { credentialIdOf } from './passkey-values.ts';

/** A passkey that a user registered at a former system with the same host name. */
export interface FormerPasskey {
  /** Base64url. */
  credentialId: string;
  /** COSE_Key (RFC 9052 section 7), base64url. */
  publicKey: string;
  signCount: number;
  aaguid: string;
  transports: string[];
}

/** Whether a registration here would have accepted it. */
export function isTakable({ aaguid, credentialId, publicKey, signCount }: FormerPasskey): boolean {
  const isCounter = Number.isSafeInteger(signCount) && signCount >= 0 && signCount < 2 ** 32;
  const isModel = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(aaguid);
  return isCounter && isModel && credentialIdOf({ id: credentialId }) !== null && passkeyKeyOf(publicKey) !== null;
}

/** The credentials of these that the project has or had. */
export async function knownCredentials(
  em: EntityManager,
  projectId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await query(
    em,
    sql<{ id: string }>`select credential_id as id from credentials
      where project_id = ${projectId}::uuid and credential_id = any(${ids}::text[])`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** `backupEligible` for a check: null while unknown. The first use that verifies the user ends that. */
export function storedEligibility({ backupEligible, createdBy, userVerified }: Passkey): boolean | null {
  return createdBy === 'import' && !userVerified ? null : backupEligible;
}

/** Joins: passkeys of new users. They have not verified their users here; `backupEligible` follows at the first use. */
export function addFormerPasskeys(
  em: EntityManager,
  { now, random }: { now: Date; random: Random },
  projectId: string,
  passkeys: readonly (FormerPasskey & { userId: string })[],
): void {
  for (const { aaguid, credentialId, publicKey, signCount, transports, userId } of passkeys) {
    const coseAlg = passkeyKeyOf(publicKey)?.alg as number;
    const row = {
      id: random.id(),
      kind: 'passkey' as const,
      project: projectId,
      user: [projectId, userId] as [string, string],
    };
    em.persist(
      em.create(Passkey, {
        ...row,
        ...{ credentialId, publicKey, coseAlg, aaguid, transports, signCount },
        ...{
          attestedRoot: null,
          backupEligible: false,
          backedUp: false,
          userVerified: false,
          createdBy: 'import' as const,
        },
        ...{ domain: null, name: passkeyName(aaguid, undefined), userAgent: null, createdAt: now, lastUsedAt: now },
      }),
    );
  }
}
