import type { EntityManager } from '@mikro-orm/postgresql';
import {
  addFormerPasskeys,
  type FormerPasskey,
  isTakable,
  knownCredentials,
} from '../../credentials/former-passkeys.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import type { Random } from '../../kernel/random.ts';
import { query, sql } from '../../kernel/sql.ts';
import type { Vault } from '../../keys/vault.ts';
import { addFormerTotp } from '../../mfa/former-factors.ts';
import { addRoleHolders } from '../../roles/new-holders.ts';
import type { NewUser } from '../../users/creation/new-user.ts';
import type { LocalGroups } from '../../users/local-groups.ts';
import { addNewMembers } from '../../users/members/new-members.ts';
import type { NewUsers, RowOutcome } from '../new-users.ts';

/** A person who comes from another system. */
export interface Arrival {
  user: NewUser;
  /** Names of groups. */
  groups: readonly string[];
  /** Ids of roles. */
  roles: readonly string[];
  /** In base32; of SHA-1, six digits and 30 seconds. */
  totp?: string | undefined;
  passkeys: readonly FormerPasskey[];
}

/** Adds people of another system with their `sub`, groups, roles, factors and passkeys. */
export class Arrivals {
  /** Ids of groups by project and name. */
  private readonly groups = new Map<string, string>();

  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      vault: Vault;
      newUsers: NewUsers;
      localGroups: LocalGroups;
    },
  ) {}

  /**
   * Adds people in one transaction, at most 500; a refused one does not affect the others. Idempotent: a person whose `subject` the
   * project has is refused as known, and stays as they are.
   */
  async addMany(
    projectId: string,
    people: readonly Arrival[],
    { dryRun, actor }: { dryRun: boolean; actor: Actor },
  ): Promise<RowOutcome[]> {
    const rows = people.map(({ user }) => user);
    if (dryRun) return this.deps.newUsers.addMany(projectId, rows, { invite: false, dryRun }, actor);
    for (const name of new Set(people.flatMap(({ groups }) => groups))) await this.groupOf(projectId, name, actor);
    const also = (em: EntityManager, ids: ReadonlyMap<number, string>) => this.addWith(em, projectId, people, ids);
    return this.deps.newUsers.addMany(projectId, rows, { invite: false, also }, actor);
  }

  private async addWith(
    em: EntityManager,
    projectId: string,
    people: readonly Arrival[],
    ids: ReadonlyMap<number, string>,
  ): Promise<void> {
    const { clock, random, vault } = this.deps;
    const now = clock.now();
    const added = [...ids].map(([at, userId]) => ({ ...(people[at] as Arrival), userId }));
    const factors = added.flatMap(({ totp, userId }) => (totp === undefined ? [] : [{ userId, secret: totp }]));
    addFormerTotp(em, { now, random, vault }, projectId, factors);
    const given = added.flatMap(({ passkeys, userId }) =>
      passkeys.filter(isTakable).map((one) => ({ ...one, userId })),
    );
    const known = await knownCredentials(
      em,
      projectId,
      given.map(({ credentialId }) => credentialId),
    );
    const passkeys = new Map(given.map((one) => [one.credentialId, one]));
    addFormerPasskeys(
      em,
      { now, random },
      projectId,
      [...passkeys.values()].filter(({ credentialId }) => !known.has(credentialId)),
    );
    await em.flush();
    const members = added.flatMap(({ groups, userId }) =>
      [...new Set(groups)].map((name) => ({ userId, groupId: this.groups.get(keyOf(projectId, name)) as string })),
    );
    await addNewMembers(em, projectId, members, now);
    const holders = added.flatMap(({ roles, userId }) =>
      [...new Set(roles)].map((roleId) => ({ id: random.id(), userId, roleId })),
    );
    await addRoleHolders(em, projectId, holders, now);
  }

  /** The local group with this name, which is created if there is none. */
  private async groupOf(projectId: string, name: string, actor: Actor): Promise<string> {
    const key = keyOf(projectId, name);
    const cached = this.groups.get(key);
    if (cached !== undefined) return cached;
    const statement = sql<{ id: string }>`select id from groups
      where project_id = ${projectId}::uuid and display_name = ${name}::text and provenance = 'local' order by id limit 1`;
    const [found] = await query(this.deps.db.alone, statement);
    const { id } = found ?? (await this.deps.localGroups.create(projectId, name, actor));
    this.groups.set(key, id);
    return id;
  }
}

const keyOf = (projectId: string, name: string) => `${projectId} ${name}`;
