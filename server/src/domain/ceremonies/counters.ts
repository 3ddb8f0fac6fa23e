import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../kernel/sql.ts';
import type { Enrolment } from '../mfa/enrolment.entity.ts';
import type { Mfa } from '../mfa/mfa.ts';
import type { CodePlace, CountedCode, Otp } from '../otp/otp.ts';
import type { Ceremony } from './ceremony.entity.ts';

/** Wrong codes of an authenticator app, or recovery codes, that one sign-in may hold. */
const triesPerSignIn = 5;

/** What a step may count before it decides. It writes nothing but counters, which outlive a refusal. */
export class Counters {
  constructor(
    private readonly em: EntityManager,
    private readonly ceremony: Ceremony,
    private readonly deps: { mfa: Mfa; otp: Otp },
  ) {}

  /** A try at the code that was sent in this sign-in; null: none was. */
  code(purpose: CodePlace['purpose']): Promise<CountedCode | null> {
    return this.deps.otp.count(this.em, this.place(purpose));
  }

  /** A try at the codes of one person's factor, over all sign-ins; seconds to wait, or null. */
  codeOf(purpose: CodePlace['purpose'], userId: string): Promise<number | null> {
    return this.deps.otp.spendTry(this.em, this.place(purpose), userId);
  }

  /** A try at this sign-in; false where it has had its five. */
  async signIn(): Promise<boolean> {
    const [row] = await query(
      this.em,
      sql<{ tries: number }>`
        update ceremonies set mfa_attempts = mfa_attempts + 1 where id = ${this.ceremony.id}
        returning mfa_attempts as tries`,
      { prepare: 'counters.sign-in' },
    );
    return row !== undefined && row.tries <= triesPerSignIn;
  }

  /** The factor that is owed, locked as it is now. */
  factor(): Promise<Enrolment | null> {
    const { enrolmentId } = this.ceremony;
    return enrolmentId ? this.deps.mfa.locked(this.em, enrolmentId) : Promise.resolve(null);
  }

  /** Whether too many wrong codes have switched the factor off. */
  isOff(factor: Enrolment): boolean {
    return this.deps.mfa.isOff(factor);
  }

  /** Seconds until a locked factor takes codes again; 0: it does. */
  lockedForSeconds(factor: Enrolment): number {
    return this.deps.mfa.lockedForSeconds(factor);
  }

  /** A try at the factor's TOTP code. */
  totp(factor: Enrolment): Promise<void> {
    return this.deps.mfa.countTry(this.em, factor);
  }

  private place(purpose: CodePlace['purpose']): CodePlace {
    return { projectId: this.ceremony.project.id, ceremonyId: this.ceremony.id, purpose };
  }
}
