import type { EntityManager } from '@mikro-orm/postgresql';
import { digest } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Enrolment } from '../mfa/enrolment.entity.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { CodePlace, CountedCode, Otp } from '../otp/otp.ts';
import type { Ceremony, PasskeyPurpose } from './ceremony.entity.ts';

/** Attempts at TOTP and recovery codes that one sign-in allows. */
const triesPerSignIn = 5;

/** The counters of a step's attempts. They are kept when the step refuses. */
export class Counters {
  constructor(
    private readonly em: EntityManager,
    private readonly ceremony: Ceremony,
    private readonly deps: { mfa: Mfa; otp: Otp },
  ) {}

  /** Counts an attempt at the code sent in this sign-in; null: no code was sent. */
  code(purpose: CodePlace['purpose']): Promise<CountedCode | null> {
    return this.deps.otp.count(this.em, this.place(purpose));
  }

  /** Counts an attempt at the codes of a user's factor, over all sign-ins. Returns seconds to wait, or null. */
  codeOf(purpose: CodePlace['purpose'], userId: string): Promise<number | null> {
    return this.deps.otp.spendTry(this.em, this.place(purpose), userId);
  }

  /** Counts an attempt in this sign-in; false after the fifth. */
  async signIn(): Promise<boolean> {
    const [row] = await query(
      this.em,
      sql<{ tries: number }>`
        update ceremonies set mfa_attempts = mfa_attempts + 1 where project_id = ${this.ceremony.project.id} and id = ${this.ceremony.id}
        returning mfa_attempts as tries`,
      { prepare: 'counters.sign-in' },
    );
    return row !== undefined && row.tries <= triesPerSignIn;
  }

  /** Uses up the outstanding WebAuthn challenge, if it is this one. */
  async passkeyChallenge(challenge: string | null, purposes: readonly PasskeyPurpose[]) {
    const [used] = await query(
      this.em,
      sql`update ceremonies set passkey_challenge_hash = null
        where project_id = ${this.ceremony.project.id} and id = ${this.ceremony.id}
          and passkey_challenge_hash = ${digest(challenge ?? '')} and passkey_purpose = any(${purposes})
        returning id`,
      { prepare: 'counters.passkey-challenge' },
    );
    if (!used || challenge === null) {
      const event = { type: 'passkey.rejected' as const, detail: { fault: 'challenge' } };
      return { refused: { code: 'passkey-rejected', reason: 'challenge' }, event } as const;
    }
    return { counted: null, challenge };
  }

  /** The required factor, locked. */
  factor(): Promise<Enrolment | null> {
    const { enrolmentId, project } = this.ceremony;
    return enrolmentId ? this.deps.mfa.locked(this.em, { project, id: enrolmentId }) : Promise.resolve(null);
  }

  /** Whether too many wrong codes have disabled the factor. */
  isOff(factor: Enrolment): boolean {
    return this.deps.mfa.isOff(factor);
  }

  /** Seconds until a locked factor accepts codes again; 0: not locked. */
  lockedForSeconds(factor: Enrolment): number {
    return this.deps.mfa.lockedForSeconds(factor);
  }

  /** Counts an attempt at the factor's TOTP code. */
  totp(factor: Enrolment): Promise<void> {
    return this.deps.mfa.countTry(this.em, factor);
  }

  private place(purpose: CodePlace['purpose']): CodePlace {
    return { projectId: this.ceremony.project.id, ceremonyId: this.ceremony.id, purpose };
  }
}
