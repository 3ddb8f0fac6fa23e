import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccessRefusals } from '../../access/access-refusals.ts';
import type { MemberChoice } from '../../access/member-choices.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Consents } from '../../consents/consents.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { networkOf } from '../../kernel/network.ts';
import { refuse } from '../../kernel/problem.ts';
import { digest } from '../../kernel/secret.ts';
import { execute, sql } from '../../kernel/sql.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import { usedMembership } from '../../organizations/organization-policy.ts';
import { meetsClientPolicy } from '../../policy/session.ts';
import { type Issuer } from '../../projects/issuer.ts';
import { keyIn } from '../../projects/tenant.ts';
import type { Session } from '../../sessions/session.entity.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { DeviceAuthorization } from '../../tokens/device/device-authorization.entity.ts';
import type { DeviceAuthorizations } from '../../tokens/device/device-authorizations.ts';
import { User } from '../../users/user.entity.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';
import type { AuthorizationRequests, BegunFlow } from './authorization-requests.ts';
import { choose, contextOf } from './request-context.ts';

/** Wrong user codes (RFC 8628 section 5.1). Correct ones do not count. */
const perNetwork: LimitRule = { name: 'device-code-network', max: 30, windowSeconds: 600 };
const perSession: LimitRule = { name: 'device-code-session', max: 10, windowSeconds: 600 };

/** Correct codes create flows, which are rows. */
const perMinute = { name: 'device-entry-network', windowSeconds: 60 };

/** The browser of a person: its cookies, and the flow in its address. */
export interface Visit {
  issuer: Issuer;
  flow: string;
  flowSecret: string | undefined;
  sessionSecret: string | undefined;
}

/** A device that waits for the decision of the user who is signed in. */
export interface WaitingDevice {
  request: AuthorizationRequest;
  device: DeviceAuthorization;
  session: Session;
  user: User;
  /** The organization of its tokens; null: none. */
  organizationId: string | null;
}

/** The user who is signed in must choose one of these organizations first. */
export interface ChoosingDevice extends Omit<WaitingDevice, 'organizationId'> {
  choices: readonly MemberChoice[];
}

/** The state of a device for the browser of a flow; null: there is none. */
export type DeviceState = WaitingDevice | ChoosingDevice | RefusedDevice | 'sign-in-first' | null;

/** The user who is signed in has no access to the device's application. */
export interface RefusedDevice {
  request: AuthorizationRequest;
  withoutAccess: User;
}

/** Approval of devices by users (RFC 8628 section 3.3), after the normal sign-in of the device's application. */
export class DeviceApprovals {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      audit: Audit;
      limits: Pick<Limits, 'spend' | 'refund' | 'spendPrepaid'>;
      sessions: Sessions;
      requests: AuthorizationRequests;
      consents: Pick<Consents, 'give'>;
      accessRefusals: Pick<AccessRefusals, 'record'>;
      deviceAuthorizations: DeviceAuthorizations;
      /** Codes, correct or not, that one network may enter per minute. */
      perMinute: number;
    },
  ) {}

  /**
   * Begins a flow for the device of a user code, in this browser only; null for a wrong code. Refuses `too-many` after too
   * many wrong codes of a network or session.
   */
  async enter(
    issuer: Issuer,
    typed: string,
    { actor, sessionSecret }: { actor: Actor; sessionSecret: string | undefined },
  ): Promise<BegunFlow | null> {
    const { db, audit, limits, requests, deviceAuthorizations } = this.deps;
    const network = networkOf(actor.ip);
    const all = await limits.spendPrepaid(db, { ...perMinute, max: this.deps.perMinute }, network);
    if (!all.allowed) refuse({ code: 'too-many', retryAfterSeconds: all.retryAfterSeconds });
    const subjects: [LimitRule, string][] = [[perNetwork, network]];
    if (sessionSecret !== undefined) subjects.push([perSession, digest(sessionSecret)]);
    // Counted before the lookup, and committed.
    const spent = await db.transaction(async (em) => {
      const counts = [];
      for (const [rule, subject] of subjects) counts.push(await limits.spend(em, rule, subject));
      return counts;
    });
    const refused = spent.find(({ allowed }) => !allowed);
    if (refused) refuse({ code: 'too-many', retryAfterSeconds: refused.retryAfterSeconds });
    return db.transaction(async (em) => {
      const device = await deviceAuthorizations.findWaiting(em, issuer, typed);
      if (!device) {
        const entry = { type: 'device-authorization.code-refused' as const, actor, projectId: issuer.project?.id };
        await audit.recordRepeated(em, entry, 'unknown');
        return null;
      }
      for (const [rule, subject] of subjects) await limits.refund(em, rule, subject);
      return requests.begin(em, {
        projectId: device.project.id,
        clientId: device.client.id,
        issuer: device.issuer,
        redirectUri: `${issuer.url}/device`,
        codeChallenge: undefined,
        scope: device.scope,
        organizationId: device.organizationId,
        deviceAuthorizationId: device.id,
      });
    });
  }

  /**
   * The device of this browser's flow, with the user who can decide; `sign-in-first` if no session is live or it does not
   * meet the policies. A {@link RefusedDevice} is recorded. Null if there is no such flow, or its device was decided before or
   * expired.
   */
  async waiting(visit: Visit, actor: Actor): Promise<DeviceState> {
    const found = await this.deps.db.transaction((em) => this.read(em, visit));
    if (isRefused(found)) {
      await this.deps.accessRefusals.record(found.request.client.getEntity(), found.withoutAccess, actor);
    }
    return found;
  }

  /**
   * Records the decision; single use. False if there is nothing left to decide; otherwise as {@link waiting}.
   *
   * @param shown on the page that asked
   */
  async decide(
    visit: Visit,
    shown: Pick<WaitingDevice, 'organizationId'>,
    isAllowed: boolean,
    actor: Actor,
  ): Promise<boolean | Exclude<DeviceState, WaitingDevice | null>> {
    const seen = await this.waiting(visit, actor);
    if (!isWaiting(seen)) return seen ?? false;
    return this.deps.db.transaction(async (em) => {
      // Before the session is read: a transaction that ends the user's open work waits for this one, or is visible.
      await execute(
        em,
        sql`select 1 from users where project_id = ${seen.user.project.id} and id = ${seen.user.id} for no key update`,
      );
      const waiting = await this.read(em, visit);
      if (!isWaiting(waiting)) return waiting ?? false;
      const { request, device, session, user, organizationId } = waiting;
      if (user.id !== seen.user.id || organizationId !== shown.organizationId) return false;
      const { audit, consents, deviceAuthorizations, requests } = this.deps;
      if (!(await requests.finish(em, request))) return false;
      if (!(await deviceAuthorizations.decide(em, device, isAllowed))) return false;
      const by = { ...actor, kind: 'user', id: user.id, name: user.userName } as const;
      const client = request.client.getEntity();
      // The page asks the same question as the consent page.
      if (isAllowed && client.thirdParty)
        await consents.give(em, client, user, { scope: device.scope, resources: [], organizationId }, by);
      if (isAllowed) await deviceAuthorizations.issueCode(em, device, session, organizationId);
      if (isAllowed && organizationId !== null) {
        const of = { projectId: device.project.id, organizationId, userId: user.id };
        await execute(em, usedMembership(of, this.deps.clock.now()));
      }
      audit.record(em, {
        type: isAllowed ? 'device-authorization.approved' : 'device-authorization.denied',
        actor: by,
        projectId: device.project.id,
        clientId: device.client.id,
        subject: { kind: 'user', id: user.id, name: user.userName },
        detail: { scope: device.scope, deviceIp: device.ip },
      });
      return true;
    });
  }

  /** Stores the organization that the user chose. @param seen by this browser */
  async choose(visit: Visit, organizationId: string, seen: ChoosingDevice): Promise<void> {
    await this.deps.db.transaction(async (em) => {
      const choosing = await this.read(em, visit);
      if (!isChoosing(choosing) || choosing.session.id !== seen.session.id) return;
      await choose(em, choosing.request, choosing.session, organizationId);
    });
  }

  private async read(em: EntityManager, visit: Visit): Promise<DeviceState> {
    const { deviceAuthorizations, requests, sessions } = this.deps;
    const { issuer, flow, flowSecret, sessionSecret } = visit;
    const request = flowSecret === undefined ? null : await requests.find(em, flow, flowSecret);
    if (!request?.deviceAuthorizationId || request.issuer !== issuer.url) return null;
    const project = request.project.getEntity();
    const device = await deviceAuthorizations.waitingAt(em, keyIn(project.id, request.deviceAuthorizationId));
    if (!device) return null;
    const session = sessionSecret === undefined ? null : await sessions.peek(em, project, sessionSecret);
    if (!session || !meetsClientPolicy(session, request.client.getEntity())) return 'sign-in-first';
    const user = await em.findOneOrFail(User, { project: project.id, id: session.user.id });
    const context = await contextOf(em, request, session, this.deps.clock.now());
    if (context === 'sign-in') return 'sign-in-first';
    if (context === 'no-access') return { request, withoutAccess: user };
    if ('choices' in context) return { request, device, session, user, choices: context.choices };
    sessions.extend(session, project);
    return { request, device, session, user, organizationId: context.organizationId };
  }
}

export function isRefused(found: DeviceState): found is RefusedDevice {
  return found !== null && typeof found === 'object' && 'withoutAccess' in found;
}

export function isChoosing(found: DeviceState): found is ChoosingDevice {
  return found !== null && typeof found === 'object' && 'choices' in found;
}

function isWaiting(found: DeviceState): found is WaitingDevice {
  return found !== null && typeof found === 'object' && 'organizationId' in found;
}
