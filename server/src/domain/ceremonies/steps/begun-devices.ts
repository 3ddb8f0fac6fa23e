import type { JWK } from 'jose';
import type { DeviceRow } from '../../credentials/device-facts.ts';
import { Cache } from '../../kernel/cache.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { HeldRow } from '../../sessions/sessions.ts';
import type { UserFactsRow } from '../../sessions/user-facts.ts';
import { nonceTtlSeconds } from '../ceremony.entity.ts';

/** The facts of every sign-in that one step can end, without a lock: `endingFacts`. */
export interface EndingRow extends HeldRow {
  /** The ID of the sign-in. */
  id: string;
  nonce_hash: string;
  code_challenge: string | null;
  credential_id: string;
  user_id: string;
  user_name: string;
}

/** A sign-in, a device with its key, and the device's user. */
export interface DeviceFacts extends EndingRow, DeviceRow, UserFactsRow {
  jkt: string;
  public_jwk: JWK;
  alg: string;
  client_id: string;
  hosted: boolean | null;
  domain: string | null;
  revoked_at: string | null;
  /** Whether a factor was added with no more than the mailbox by a user with a passkey. */
  is_marked: boolean;
  /** Whether a factor is not verified: the sign-in that began it may continue in this one. */
  has_pending: boolean;
}

/** A device whose key began a sign-in, as read at its beginning. */
export interface BegunDevice extends DeviceFacts {
  /** Of its user. */
  email_key: string | null;
}

/** The devices whose keys began sign-ins a short time ago, by {@link begunKey}. */
export class BegunDevices extends Cache<BegunDevice[]> {
  constructor({ clock }: { clock: Clock }) {
    super(clock, nonceTtlSeconds, 5_000);
  }
}

export const begunKey = ({ project }: { project: { id: string } }, txnHash: string) => `${project.id} ${txnHash}`;
