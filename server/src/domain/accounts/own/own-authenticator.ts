import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../../audit/audit.ts';
import { endOpenWork } from '../../ceremonies/open-work.ts';
import { addressOf, contextFor } from '../../ceremonies/recipients.ts';
import type { BegunFlow } from '../../ceremonies/requests/authorization-requests.ts';
import { forgetRemembered } from '../../credentials/user-tables.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import { type Clock, isPast, secondsLater } from '../../kernel/clock.ts';
import { type Database, rolledBackIfRefused } from '../../kernel/database.ts';
import { found, type Problem, refuse } from '../../kernel/problem.ts';
import { type Enrolment, isMailboxAlone } from '../../mfa/enrolment.entity.ts';
import type { Mfa, TotpSetup } from '../../mfa/mfa.ts';
import { type Project, passkeyPolicyOf } from '../../projects/project.entity.ts';
import { type FreshnessDeps, isFreshNow } from '../../sessions/freshness.ts';
import type { Session } from '../../sessions/session.entity.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { User } from '../../users/user.entity.ts';
import type { Users } from '../../users/users.ts';
import { beginConfirmation, type ConfirmationDeps } from '../confirmation.ts';
import { checkFresh, type OwnChange, underLock, type Visitor } from './own-change.ts';

/** Time to scan the secret and enter the first code. */
const setupSeconds = 30 * 60;

export interface OwnAuthenticatorDeps extends ConfirmationDeps, FreshnessDeps {
  db: Database;
  clock: Clock;
  audit: Audit;
  users: Pick<Users, 'locked'>;
  sessions: Pick<Sessions, 'listLive'>;
  mfa: Pick<
    Mfa,
    | 'factors'
    | 'pending'
    | 'locked'
    | 'totpSetup'
    | 'lockedForSeconds'
    | 'countTry'
    | 'acceptTotp'
    | 'verify'
    | 'remove'
    | 'recoveryGrants'
  >;
  delivery: Pick<Delivery, 'enqueue'>;
}

/** The actions of a session on an authenticator app. */
export type AuthenticatorState =
  /** `replaces`: the user has one. */
  | { can: 'begin'; replaces: boolean }
  /** Started; the sign-in is no longer fresh. */
  | { can: 'confirm' }
  | { can: 'verify'; setup: TotpSetup }
  | { can: 'nothing' };

type Refused = { refused: Problem };
const rejected: Refused = { refused: { code: 'code-rejected', attemptsLeft: 0 } };

/**
 * Authenticator apps that users add at the account page (decisions/0180). A sign-in for this purpose begins the app, so
 * the user has proved a mail code, factor or passkey in it; only the session of that sign-in can verify the app. Every
 * lookup is scoped to the user of the visitor's session; all changes refuse `unauthenticated` if it is not live.
 */
export class OwnAuthenticator {
  constructor(private readonly deps: OwnAuthenticatorDeps) {}

  async state({ project, session, user }: Visitor): Promise<AuthenticatorState> {
    const { db, mfa } = this.deps;
    const em = db.reader();
    if (!isOffered(project) || (await this.lacksOtherProof(em, project, user))) return { can: 'nothing' };
    const pending = await this.pending(em, user, session);
    if (!pending) return { can: 'begin', replaces: (await this.apps(em, user)).length > 0 };
    if (!(await isFreshNow(this.deps, em, user, session))) return { can: 'confirm' };
    const setup = mfa.totpSetup(pending, project.name, addressOf(user) ?? user.userName);
    return setup ? { can: 'verify', setup } : { can: 'nothing' };
  }

  /** Begins the sign-in that adds an app. Refuses `mfa-method-not-allowed`. */
  add({ visitor }: Pick<OwnChange, 'visitor'>): Promise<BegunFlow> {
    return underLock(this.deps, visitor, async (em, user, session) => {
      if (!isOffered(visitor.project)) refuse(notAllowed);
      return beginConfirmation(this.deps, em, user, session, { adds: 'authenticator' });
    });
  }

  /** Cancels the app that this session has begun. */
  drop({ visitor }: Pick<OwnChange, 'visitor'>): Promise<void> {
    return underLock(this.deps, visitor, async (em, user, session) => {
      const pending = await this.pending(em, user, session);
      if (pending) em.remove(pending);
    });
  }

  /**
   * Verifies the first code of the app, which replaces the user's previous app. The attempt is counted before the code is
   * checked; a refusal keeps only the count. Refuses `not-found` without an open app, `forbidden` if the sign-in is
   * not fresh, `mfa-method-not-allowed`, `too-many`, `code-rejected`.
   *
   * @returns recovery codes, shown once, if the user had none
   */
  async verify(change: OwnChange, code: string): Promise<string[] | null> {
    const { visitor } = change;
    const outcome = await underLock(this.deps, visitor, async (em, user, session) => {
      const app = found(await this.pending(em, user, session), 'enrolment');
      if (!isOffered(visitor.project)) return refuse(notAllowed);
      await checkFresh(this.deps, em, user, session);
      const retryAfterSeconds = this.deps.mfa.lockedForSeconds(app);
      if (retryAfterSeconds > 0) return refuse({ code: 'too-many', retryAfterSeconds });
      await this.deps.mfa.countTry(em, app);
      const tried = await rolledBackIfRefused(em, () => this.accept(em, change, { user, session, counted: app }, code));
      if ('refused' in tried) await this.noteRefusal(em, change, tried.refused);
      return tried;
    });
    return 'refused' in outcome ? refuse(outcome.refused) : outcome.recoveryCodes;
  }

  private async accept(
    em: EntityManager,
    { actor, locale, visitor }: OwnChange,
    { counted, session, user }: { counted: Enrolment; session: Session; user: User },
    code: string,
  ): Promise<{ recoveryCodes: string[] | null } | Refused> {
    const { clock, delivery, mfa, passkeys } = this.deps;
    // Read again, with the count.
    const app = found(await mfa.locked(em, counted), 'enrolment');
    if (!(await mfa.acceptTotp(em, app, code))) return rejected;
    const owner = { projectId: user.project.id, userId: user.id };
    const hasPasskey = await passkeys.isHeldBy(em, owner);
    // Without mfa, only the mailbox or an admin's grant proved the user (decisions/0133).
    app.besidePasskey = !session.amr.includes('mfa') && hasPasskey;
    const before = await mfa.factors(em, user);
    const previous = before.filter(({ method }) => method === 'totp');
    const recoveryCodes = await mfa.verify(em, app, user, actor, hasPasskey);
    for (const { id } of previous) await mfa.remove(em, user, id, actor);
    if (previous.length > 0) await forgetRemembered(em, user);
    // An open sign-in by email would succeed with the mailbox alone.
    const hadMailboxAlone = before.length > 0 && isMailboxAlone(before);
    if (hadMailboxAlone || previous.length > 0) await endOpenWork(em, clock.now(), user, { keepSessionId: session.id });
    const context = contextFor(user);
    await delivery.enqueue(em, {
      projectId: user.project.id,
      channel: 'mail',
      to: context.mailbox,
      locale,
      content: {
        template: 'factor-changed',
        app: visitor.project.name,
        change: previous.length > 0 ? 'replaced' : 'added',
        method: 'totp',
        at: clock.now().toISOString(),
      },
      context,
    });
    return { recoveryCodes };
  }

  private noteRefusal(em: EntityManager, { actor, visitor }: OwnChange, { code }: Problem): Promise<void> {
    const { project, user } = visitor;
    const subject = { kind: 'user', id: user.id, name: user.userName };
    const detail = { method: 'totp', change: true };
    const event = { type: 'mfa.rejected', actor, projectId: project.id, subject, detail } as const;
    return this.deps.audit.recordRepeated(em, event, code);
  }

  /** The app that a sign-in has begun for this session. */
  private async pending(em: EntityManager, user: User, session: Session): Promise<Enrolment | null> {
    const { clock, mfa } = this.deps;
    const pending = await mfa.pending(em, user, [session.id]);
    return pending && !isPast(secondsLater(pending.createdAt, setupSeconds), clock.now()) ? pending : null;
  }

  /** Whether passkeys are off and the user has one, but no other proof: the mailbox adds no factor (decisions/0133). */
  private async lacksOtherProof(em: EntityManager, project: Project, user: User): Promise<boolean> {
    const { mfa, passkeys } = this.deps;
    if (project.passkeys || !(await passkeys.isHeldBy(em, { projectId: project.id, userId: user.id }))) return false;
    return (await mfa.factors(em, user)).every(({ besidePasskey, method }) => besidePasskey || method === 'email');
  }

  private async apps(em: EntityManager, user: User): Promise<Enrolment[]> {
    return (await this.deps.mfa.factors(em, user)).filter(({ method }) => method === 'totp');
  }
}

const notAllowed = { code: 'mfa-method-not-allowed', method: 'totp' } as const;

/** False in a project without factors, or with only passkeys. */
function isOffered(project: Project): boolean {
  const usesFactors = project.mfaPolicy !== 'off' && passkeyPolicyOf(project) !== 'required';
  return usesFactors && project.offeredFactors.includes('totp');
}
