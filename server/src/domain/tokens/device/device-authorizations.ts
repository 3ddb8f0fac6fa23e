import type { EntityManager } from '@mikro-orm/postgresql';
import type { CheckedClient } from '../../clients/client-registry.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { networkOf } from '../../kernel/network.ts';
import { grantTypeNames } from '../../kernel/openid.ts';
import { refuse } from '../../kernel/problem.ts';
import { newSecret, type Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { execute, query, sql } from '../../kernel/sql.ts';
import type { Vault } from '../../keys/vault.ts';
import type { LimitRule, Limits } from '../../limits/limits.ts';
import type { Issuer } from '../../projects/issuer.ts';
import type { TenantKey } from '../../projects/tenant.ts';
import type { Session } from '../../sessions/session.entity.ts';
import { type Accepted, type Credentials, isAccepted, organizationColumn, presented } from '../grants/grant.ts';
import { insertedCode } from '../new-code.ts';
import { DeviceAuthorization } from './device-authorization.entity.ts';
import { type DevicePoll, type DeviceState, poll } from './poll.ts';
import { newUserCode, shownUserCode, typedUserCode } from './user-code.ts';

/** Seconds in which a person must approve a device, and the device must fetch its tokens. */
export const deviceTtlSeconds = 600;
/** Seconds between two polls (RFC 8628 section 3.2). */
export const pollSeconds = 5;
/** Stored in place of a redirect URI with the code of an approved device: no client can register it. */
export const deviceRedirect = grantTypeNames.device_code;
/** A user code that is taken is replaced; a second collision in a row is already unlikely. */
const tries = 5;

/** A device authorization request of an authenticated client (RFC 8628 section 3.1). */
export interface DeviceRequest extends CheckedClient, Pick<Credentials, 'assertion'> {
  issuer: Issuer;
  scope: string;
  /** The organization that it names; null: none. */
  organizationId: string | null;
  ip: string | undefined;
}

/** The codes of a new request; `userCode` as people see it. */
export interface DeviceCodes {
  deviceCode: string;
  userCode: string;
}

interface BegunRow extends Accepted {
  is_begun: boolean;
}

/** Devices that wait for a person (RFC 8628). */
export class DeviceAuthorizations {
  private readonly perNetwork: LimitRule;

  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      vault: Vault;
      limits: Pick<Limits, 'spendPrepaid'>;
      /** Requests that one network (IPv6: a /64) may start per minute. */
      perMinute: number;
    },
  ) {
    this.perNetwork = { name: 'device-authorization-network', max: deps.perMinute, windowSeconds: 60 };
  }

  /**
   * Stores a request for ten minutes. Null, with nothing written, if the cached client is stale. Refuses `too-many`, and
   * `client-rejected` for a replayed assertion.
   */
  async begin(request: DeviceRequest): Promise<DeviceCodes | null> {
    const { db, limits, random } = this.deps;
    const spent = await limits.spendPrepaid(db, this.perNetwork, networkOf(request.ip));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    const deviceCode = newSecret(random);
    let { assertion } = request;
    for (let n = 0; n < tries; n += 1) {
      const userCode = newUserCode(random);
      const row = await this.insert({ ...request, assertion }, deviceCode, userCode);
      if (!isAccepted(row)) return null;
      if (row.is_begun) return { deviceCode, userCode: shownUserCode(userCode) };
      // The first try has recorded it.
      assertion = undefined;
    }
    throw new Error('no free user code');
  }

  private async insert(request: DeviceRequest, deviceCode: string, userCode: string): Promise<BegunRow> {
    const { clock, db, random, vault } = this.deps;
    const { issuer, scope, ip, client } = request;
    const { name, value } = organizationColumn(request.organizationId);
    const now = clock.now();
    const { ctes, columns, hold } = presented(request, request);
    const userCodeHash = vault.mac(purpose, client.project.id, userCode);
    const [row] = await query(
      db.alone,
      sql<BegunRow>`with ${ctes},
        begun as (
          insert into device_authorizations (project_id, id, client_id, issuer, device_hash, user_code_hash, scope, ip,
            created_at, expires_at, interval_seconds${name})
          select project_id, ${random.id()}::uuid, id, ${issuer.url}, ${digest(deviceCode)}, ${userCodeHash}, ${scope},
            ${ip ?? null}::text, ${now}::timestamptz, ${secondsLater(now, deviceTtlSeconds)}::timestamptz, ${pollSeconds}::int${value}
          from client where ${hold}
          on conflict (project_id, user_code_hash) do nothing returning 1
        )
        select ${columns}, exists (select 1 from begun) as is_begun`,
      { prepare: 'device-authorizations.begin' },
    );
    return row as BegunRow;
  }

  /**
   * The state of a device's request; counts the poll. Null if the cached client is stale. Refuses `client-rejected` for a
   * replayed assertion, and `grant-rejected` for a device code that is unknown, or another client's or issuer's.
   */
  async poll(asked: DevicePoll): Promise<DeviceState | null> {
    const statement = poll(asked, this.deps.clock.now());
    const [row] = await query(this.deps.db.alone, statement, { prepare: 'device-authorizations.poll' });
    if (!isAccepted(row)) return null;
    return row.state ?? refuse({ code: 'grant-rejected', reason: 'unknown' });
  }

  /** The request of a typed user code that waits for a decision at this issuer; null if there is none. */
  async findWaiting(em: EntityManager, issuer: Issuer, typed: string): Promise<DeviceAuthorization | null> {
    const projectId = issuer.project?.id;
    const code = typedUserCode(typed);
    if (projectId === undefined || code === null) return null;
    const hashes = this.deps.vault.macs(purpose, projectId, code);
    return this.waiting(em, { project: projectId, userCodeHash: { $in: hashes }, issuer: issuer.url });
  }

  /** The request with this id that waits for a decision. */
  async waitingAt(em: EntityManager, { project, id }: TenantKey): Promise<DeviceAuthorization | null> {
    return this.waiting(em, { project: project.id, id });
  }

  private waiting(em: EntityManager, where: object): Promise<DeviceAuthorization | null> {
    const isOpen = { approved: null, expiresAt: { $gt: this.deps.clock.now() }, client: { disabledAt: null } };
    return em.findOne(DeviceAuthorization, { ...where, ...isOpen });
  }

  /** Makes the device code of an approved request an authorization code under this session. Refuses `no-access`. */
  async issueCode(
    em: EntityManager,
    device: DeviceAuthorization,
    session: Session,
    organizationId: string | null,
  ): Promise<void> {
    const { clock, random } = this.deps;
    const made = { id: random.id(), hash: device.deviceHash, now: clock.now(), expiresAt: device.expiresAt };
    const columns = {
      projectId: device.project.id,
      clientId: device.client.id,
      userId: session.user.id,
      sessionId: session.id,
      organizationId,
      issuer: device.issuer,
      redirectUri: deviceRedirect,
      scope: device.scope,
      authTime: session.authTime,
      amr: session.amr,
    };
    if ((await execute(em, insertedCode(made, columns))) === 0) refuse({ code: 'no-access' });
  }

  /** False if the request was decided before or expired. */
  async decide(em: EntityManager, { project, id }: TenantKey, approved: boolean): Promise<boolean> {
    const now = this.deps.clock.now();
    const decided = await execute(
      em,
      sql`update device_authorizations set approved = ${approved}, decided_at = ${now}
        where project_id = ${project.id} and id = ${id} and approved is null and expires_at > ${now}`,
    );
    return decided === 1;
  }
}

/** The purpose of the keyed hash of user codes. */
const purpose = 'device-user-code';
