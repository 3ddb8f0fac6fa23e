import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { type Problem, Refusal, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import type { Spent } from '../limits/limits.ts';
import type { Memberships } from '../organizations/memberships.ts';
import { keyIn } from '../projects/tenant.ts';
import { createMany, type PlannedUser, takenValues } from '../users/creation/create-many.ts';
import { type NewUser, newUserValues, subjectOf } from '../users/creation/new-user.ts';
import type { CustomAttributes } from '../users/custom/custom-attributes.ts';
import { type CustomSchema, customName } from '../users/custom/values.ts';
import { customWrite } from '../users/custom/writing.ts';
import { addressKey, trimmed } from '../users/login.ts';
import { loginOf } from '../users/user-writing.ts';
import type { InvitationContext, Invitations } from './invitations.ts';

/** Maximum number of users in one call of {@link NewUsers.addMany}. */
const maxNewUsers = 500;
/** A try is repeated if users or custom attributes change in the meantime. */
const maxTries = 5;

/** The outcome of one row. */
export type RowOutcome =
  | { userId: string }
  /** `isKnown`: the project has a user with this login already, who stays as they are. */
  | { refused: Problem; isKnown: boolean };

interface Options {
  /** Sends an invitation to each new user. */
  invite: boolean;
  /** The home of the new users. Default: the project. */
  organizationId?: string | undefined;
  /** Checks all rows and writes nothing. */
  dryRun?: boolean;
  /** Joins: writes what comes with the new users. @param ids by position of their rows */
  also?: (em: EntityManager, ids: ReadonlyMap<number, string>) => Promise<void>;
}

/** Adds users on behalf of an admin. */
export class NewUsers {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      audit: Audit;
      customAttributes: CustomAttributes;
      invitations: Invitations;
      memberships: Pick<Memberships, 'openHome'>;
    },
  ) {}

  /** Adds one user and returns the id. Refuses `invalid` and `taken`, naming the field, and `too-many`. */
  async add(
    projectId: string,
    wanted: NewUser,
    options: Pick<Options, 'invite' | 'organizationId'>,
    actor: Actor,
  ): Promise<string> {
    const [outcome] = await this.addMany(projectId, [wanted], options, actor);
    if (outcome === undefined) throw new Error('a row has no outcome');
    return 'userId' in outcome ? outcome.userId : refuse(outcome.refused);
  }

  /**
   * Adds users in one transaction; a refused row does not affect the others. Idempotent: a row for a user whom the
   * project already has is refused as known. Refuses `invalid` for the number of rows, `too-many`, and `not-found` for the organization.
   */
  async addMany(projectId: string, wanted: readonly NewUser[], options: Options, actor: Actor): Promise<RowOutcome[]> {
    if (wanted.length === 0 || wanted.length > maxNewUsers) {
      refuse({ code: 'invalid', field: 'rows', reason: `must be from 1 to ${maxNewUsers}` });
    }
    const { customAttributes, db, invitations } = this.deps;
    const invitation = options.invite ? await invitations.contextOf(projectId, 'invite') : null;
    for (let tries = 1; ; tries += 1) {
      const schema = await customAttributes.current(projectId);
      try {
        return await pastDeadlocks(() =>
          db.transaction((em) => this.attempt(em, projectId, wanted, { ...options, invitation, schema, actor })),
        );
      } catch (error) {
        const code = error instanceof Refusal ? error.problem.code : undefined;
        if ((code !== 'conflict' && code !== 'taken') || tries === maxTries) throw error;
      }
    }
  }

  private async attempt(
    em: EntityManager,
    projectId: string,
    wanted: readonly NewUser[],
    context: Options & { invitation: InvitationContext | null; schema: CustomSchema; actor: Actor },
  ): Promise<RowOutcome[]> {
    const { actor, dryRun = false, invitation, organizationId = null, schema } = context;
    const join =
      organizationId === null ? null : await this.deps.memberships.openHome(em, keyIn(projectId, organizationId));
    const outcomes: RowOutcome[] = [];
    const planned = new Map<number, PlannedUser>();
    for (const [at, row] of wanted.entries()) {
      const plan = this.plan(row, organizationId, schema, invitation !== null);
      if ('refused' in plan) outcomes[at] = { ...plan, isKnown: false };
      else planned.set(at, plan);
    }
    const now = this.deps.clock.now();
    const taken = new ValueOwners(await takenValues(em, { projectId, organizationId }, [...planned.values()], now));
    for (const [at, plan] of planned) {
      const problem = taken.problemOf(plan, wanted[at] as NewUser);
      if (problem) {
        outcomes[at] = problem;
        planned.delete(at);
      } else taken.add(plan);
    }
    if (!dryRun) {
      if (invitation) await this.countInvitations(em, invitation, planned, outcomes);
      await this.write(em, projectId, [...planned.values()], invitation, actor);
      for (const { user } of planned.values()) await join?.(user.id, 'admin', actor);
      await context.also?.(em, new Map([...planned].map(([at, { user }]) => [at, user.id])));
    }
    for (const [at, { user }] of planned) outcomes[at] = { userId: user.id };
    return outcomes;
  }

  /** Refuses the rows whose addresses have received too many invitations. */
  private async countInvitations(
    em: EntityManager,
    invitation: InvitationContext,
    planned: Map<number, PlannedUser>,
    outcomes: RowOutcome[],
  ): Promise<void> {
    const rows = [...planned];
    const addresses = rows.map(([, { user }]) => user.email as string);
    const spent = await this.deps.invitations.spend(em, invitation, addresses);
    for (const [index, [at]] of rows.entries()) {
      const { allowed, retryAfterSeconds } = spent[index] as Spent;
      if (allowed) continue;
      outcomes[at] = { refused: { code: 'too-many', retryAfterSeconds }, isKnown: false };
      planned.delete(at);
    }
  }

  private async write(
    em: EntityManager,
    projectId: string,
    planned: readonly PlannedUser[],
    invitation: InvitationContext | null,
    actor: Actor,
  ): Promise<void> {
    if (planned.length === 0) return;
    const { audit, invitations } = this.deps;
    // In a fixed order, so that concurrent imports cannot deadlock.
    const sorted = planned.toSorted((a, b) => (a.login.userNameKey < b.login.userNameKey ? -1 : 1));
    await createMany(em, audit, projectId, sorted, { actor, now: this.deps.clock.now() });
    const users = planned.map(({ user }) => user);
    if (invitation) await invitations.send(em, invitation, users, actor);
  }

  private plan(
    row: NewUser,
    organizationId: string | null,
    schema: CustomSchema,
    isInvited: boolean,
  ): PlannedUser | { refused: Problem } {
    const now = this.deps.clock.now();
    try {
      const values = newUserValues(row, { schema, now });
      const login = loginOf(values);
      const { email, phone } = login;
      if (isInvited && email === null) {
        refuse({ code: 'invalid', field: 'email', reason: 'is required for an invitation' });
      }
      const custom = customWrite(schema, {}, values.attributes);
      const user = {
        id: this.deps.random.id(),
        organizationId,
        subject: subjectOf(row),
        ...values,
        email,
        phone,
        accountId: null,
        withheldEmailKey: null,
        withheldPhone: null,
        provenance: 'local' as const,
        version: 1,
        createdAt: now,
        updatedAt: now,
        lastSignInAt: null,
        invitedAt: isInvited ? now : null,
      };
      return { user, login, custom };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { refused: error.problem };
    }
  }
}

/** Users that hold unique values: those of the project, and those of earlier rows. */
class ValueOwners {
  private readonly byValue = new Map<string, string>();
  /** Values that an inactive user had. */
  private readonly reserved = new Set<string>();

  constructor(taken: Awaited<ReturnType<typeof takenValues>>) {
    for (const { field, isReserved, key, userId } of taken) {
      if (isReserved) this.reserved.add(keyOf(field, addressKey(key)));
      else this.byValue.set(keyOf(field, key), userId);
    }
  }

  add(plan: PlannedUser): void {
    for (const { field, key } of uniqueValues(plan)) this.byValue.set(keyOf(field, key), plan.user.id);
  }

  /** A user with this subject (without one: address, then userName) is the same user; any other conflict is `taken`. */
  problemOf(plan: PlannedUser, row: NewUser): Extract<RowOutcome, { refused: Problem }> | undefined {
    const values = uniqueValues(plan);
    const conflicts = values.filter(({ field, key }) => this.byValue.has(keyOf(field, key)));
    const [first] = conflicts;
    // Without a userName, the address is both.
    const hasName = row.userName != null && trimmed(row.userName) !== '';
    const nameOf = (field: string) => (field === 'userName' && !hasName ? 'email' : field === 'id' ? 'subject' : field);
    if (!first) {
      const reserved = values.find(({ field, key }) => this.reserved.has(keyOf(field, addressKey(key))));
      if (!reserved) return undefined;
      const field = nameOf(reserved.field);
      return { refused: { code: 'taken', what: 'user', field, isReserved: true }, isKnown: false };
    }
    const identity = plan.user.subject != null ? 'subject' : plan.login.emailKey === null ? 'userName' : 'email';
    const same = conflicts.find(({ field }) => field === identity);
    const named = nameOf((hasName ? first : (same ?? first)).field);
    return { refused: { code: 'taken', what: 'user', field: named }, isKnown: same !== undefined };
  }
}

const keyOf = (field: string, key: string) => `${field}\n${key}`;

function uniqueValues({ login, custom, user: { subject } }: PlannedUser): { field: string; key: string }[] {
  const { userNameKey, emailKey, phone } = login;
  return [
    { field: 'userName', key: userNameKey },
    ...(emailKey === null ? [] : [{ field: 'email', key: emailKey }]),
    ...(phone === null ? [] : [{ field: 'phone', key: phone }]),
    // Also not the id of a user or client.
    ...(subject == null ? [] : ['subject', 'id'].map((field) => ({ field, key: subject }))),
    ...(custom?.keys ?? [])
      .filter(({ isUnique }) => isUnique)
      .map(({ attribute, key }) => ({ field: customName(attribute), key })),
  ];
}
