import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { cleanName, linkFault } from '../kernel/name.ts';
import { addressOf } from '../kernel/network.ts';
import { refuse } from '../kernel/problem.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { inAllProjects, openProject } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, type Fragment, query, sql } from '../kernel/sql.ts';
import { Organization } from '../organizations/organization.entity.ts';
import { inside } from '../organizations/organization-events.ts';
import { checkedNetworks } from '../projects/networks.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, isNull, keyIn, locked, type TenantKey } from '../projects/tenant.ts';
import { type Home, homeAt, type Place } from '../users/identity/home.ts';
import { ScimToken } from './scim-token.entity.ts';

export interface ScimTokenInput extends DirectoryOf {
  name: string;
  /** Absent: it does not expire. */
  expiresAt?: Date | null | undefined;
  /** See {@link checkedNetworks}; none: from anywhere. */
  networks?: readonly string[] | undefined;
}

/** Whose directory it is: the project's own, or that of one of its organizations. */
export interface DirectoryOf {
  projectId: string;
  organizationId?: string | null | undefined;
}

/** An application whose access token for SCIM is valid. */
interface ScimApplication {
  id: string;
  name: string;
  projectId: string;
}

/** The credential of a directory. */
export interface ScimCredential {
  authorization: string | undefined;
  /** The application of an access token in `authorization`. */
  application?: ScimApplication | undefined;
  /** Address of the client. */
  ip: string | undefined;
}

/** A token that expires soon. */
export interface ExpiringToken extends TenantKey {
  name: string;
  projectName: string;
  expiresAt: Date;
  /** 30, 7 or 1. */
  days: number;
}

/** A directory whose token has been checked. */
export interface Directory extends Home {
  /** The ID of the SCIM token or of the application. */
  tokenId: string;
  tokenName: string;
  /** The version of the project's definitions of custom attributes; null: there are none. */
  schemaVersion: number | null;
}

interface AuthenticationRow {
  project_id: string;
  enabled: boolean;
  configured: boolean;
  token_id: string | null;
  token_name: string;
  is_near: boolean;
  schema_version: number | null;
}

/** Lets secret scanners recognize SCIM tokens. */
const scimTokenPrefix = 'lk_scim_';
const notSetUpRetrySeconds = 60;
const secondsOfDay = 24 * 3600;
/** A token that is used from other networks is recorded at most once in this time. */
const refusalsSeconds = 3600;
/** Maximum number of live tokens of a project, and of an organization. */
const maxTokens = 100;
/** Maximum number of tokens that one run of the job warns about. */
const maxWarnings = 500;
const noProject = '00000000-0000-0000-0000-000000000000';

/** SCIM tokens of projects and organizations (decisions/0401). Several may be live at once, so that one can be rotated. */
export class Directories {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** A new token, which cannot be read again. Refuses `not-found` (project, organization), `invalid`. */
  async issueScimToken(input: ScimTokenInput, actor: Actor): Promise<{ token: string; scimToken: ScimToken }> {
    const name = cleanName(input.name);
    // Admins, and owners, get mails with the name.
    const fault = linkFault(name);
    if (fault !== null) refuse({ code: 'invalid', field: 'name', reason: fault });
    const networks = checkedNetworks(input.networks ?? [], { field: 'networks' });
    const now = this.deps.clock.now();
    const expiresAt = input.expiresAt ?? null;
    if (expiresAt && (Number.isNaN(expiresAt.getTime()) || isPast(expiresAt, now))) {
      refuse({ code: 'invalid', field: 'expiresAt', reason: 'must be in the future' });
    }
    return this.deps.db.transaction(async (em) => {
      const { project, organization, of } = await ownerOf(em, input);
      const isUnexpired = [{ expiresAt: null }, { expiresAt: { $gt: now } }];
      // Serialized, so that the limit holds. Sign-ins only reference the project and do not wait.
      await query(em, sql`select 1 from projects where id = ${project.id} for no key update`);
      if ((await em.count(ScimToken, { ...of, revokedAt: null, $or: isUnexpired })) >= maxTokens) {
        const field = organization ? 'organizationId' : 'projectId';
        refuse({ code: 'invalid', field, reason: `already has ${maxTokens} tokens: revoke one first` });
      }
      const token = newSecret(this.deps.random, scimTokenPrefix);
      const scimToken = em.create(ScimToken, {
        id: this.deps.random.id(),
        project: project.id,
        organization: organization && ([project.id, organization.id] as [string, string]),
        name,
        hash: digest(token),
        hint: token.slice(-4),
        expiresAt,
        networks,
        createdAt: now,
      });
      em.persist(scimToken);
      this.record(em, 'scim-token.issued', scimToken, organization, actor);
      return { token, scimToken: scimToken as ScimToken };
    });
  }

  /** Takes effect from the next request. Revoking twice changes nothing. Refuses `not-found`. */
  async revokeScimToken(key: TenantKey, actor: Actor): Promise<ScimToken> {
    return this.deps.db.transaction(async (em) => {
      const token = (await existing(em, ScimToken, key, 'scim-token', locked)) as ScimToken;
      if (token.revokedAt) return token;
      token.revokedAt = this.deps.clock.now();
      const organization = token.organization && (await token.organization.loadOrFail());
      this.record(em, 'scim-token.revoked', token, (organization ?? null) as Organization | null, actor);
      return token;
    });
  }

  /** A token for a self-test, which expires and is not audited. Refuses `not-found`, `forbidden`. */
  async issueTemporary(whose: DirectoryOf, seconds: number): Promise<TenantKey & { token: string }> {
    return this.deps.db.transaction(async (em) => {
      const { project, organization } = await ownerOf(em, whose);
      const token = newSecret(this.deps.random, scimTokenPrefix);
      const now = this.deps.clock.now();
      const id = this.deps.random.id();
      em.persist(
        em.create(ScimToken, {
          id,
          project: project.id,
          organization: organization && ([project.id, organization.id] as [string, string]),
          name: 'Self-test',
          hash: digest(token),
          hint: token.slice(-4),
          expiresAt: secondsLater(now, seconds),
          createdAt: now,
        }),
      );
      return { project, id, token };
    });
  }

  async removeTemporary({ project, id }: TenantKey): Promise<void> {
    await execute(this.deps.db.alone, sql`delete from scim_tokens where project_id = ${project.id} and id = ${id}`);
  }

  /** The tokens of a directory, newest first, at most 100; revoked ones, too. */
  scimTokens(directory: Place): Promise<ScimToken[]> {
    const options = { orderBy: { id: 'desc' }, limit: 100 } as const;
    return this.deps.db.reader().find(ScimToken, tokensOf(homeAt(directory)), options) as Promise<ScimToken[]>;
  }

  /**
   * The directory of a request, at the address of its project or organization. Refuses, in this order and at the same cost: `not-found` if
   * neither exists or has SCIM on, `unavailable` if it never had a token, `unauthenticated` unless the header is
   * `Bearer <a live token of this directory>`, and `forbidden` from a network that the token excludes. Access tokens of applications are
   * for the project's own directory only: its source must not see organizations.
   */
  async authenticate(address: string, credential: ScimCredential): Promise<Directory> {
    const { application, authorization, ip } = credential;
    // The id comes from the URL: upper case is accepted (RFC 9562 §4).
    const lower = address.toLowerCase();
    const id = isUuid(lower) ? lower : noProject;
    openProject(id);
    const ofProject = await this.ofProject(id, authorization, ip);
    const row = ofProject ?? (await this.ofOrganization(id, authorization, ip));
    if (!row?.enabled) refuse({ code: 'not-found', what: 'project' });
    const home = { projectId: row.project_id, organizationId: ofProject ? null : id };
    const schemaVersion = row.schema_version;
    if (ofProject && application?.projectId === id) {
      return { ...home, tokenId: application.id, tokenName: application.name, schemaVersion };
    }
    if (!row.configured) {
      refuse({
        code: 'unavailable',
        reason: 'no SCIM token has been issued',
        detail: 'SCIM is not set up: no token has been issued for this project.',
        retryAfterSeconds: notSetUpRetrySeconds,
      });
    }
    if (row.token_id === null) refuse({ code: 'unauthenticated' });
    if (!row.is_near) {
      await this.recordOtherNetwork(keyIn(row.project_id, row.token_id), ip);
      refuse({ code: 'forbidden', reason: 'the token may not be used from this network' });
    }
    return { ...home, tokenId: row.token_id, tokenName: row.token_name, schemaVersion };
  }

  private async ofProject(id: string, authorization: string | undefined, ip: string | undefined) {
    const [row] = await query(
      this.deps.db.alone,
      sql<AuthenticationRow>`
        select p.id as project_id, p.scim_enabled and p.built_in is distinct from 'console' as enabled,
          exists (select 1 from scim_tokens a where a.project_id = p.id and a.organization_id is null) as configured,
          t.id as token_id, t.name as token_name,
          t.networks = '{}' or coalesce(${addressOf(ip)}::inet <<= any(t.networks::inet[]), false) as is_near,
          (select version from custom_schemas s where s.project_id = p.id) as schema_version
        from projects p
        left join scim_tokens t on t.project_id = p.id and t.organization_id is null
          and t.hash = ${hashOf(authorization)} and t.revoked_at is null
          and (t.expires_at is null or t.expires_at > ${this.deps.clock.now()})
        where p.id = ${id}`,
      { prepare: 'directories.authenticate' },
    );
    return row;
  }

  /** A suspended organization has no directory. */
  private async ofOrganization(id: string, authorization: string | undefined, ip: string | undefined) {
    const [row] = await inAllProjects(() =>
      query(
        this.deps.db.alone,
        sql<AuthenticationRow>`
          select p.id as project_id, p.scim_enabled and p.organizations_enabled and o.state = 'active'
              and p.built_in is distinct from 'console' as enabled,
            exists (select 1 from scim_tokens a where a.project_id = p.id and a.organization_id = o.id) as configured,
            t.id as token_id, t.name as token_name,
            t.networks = '{}' or coalesce(${addressOf(ip)}::inet <<= any(t.networks::inet[]), false) as is_near,
            (select version from custom_schemas s where s.project_id = p.id) as schema_version
          from organizations o join projects p on p.id = o.project_id
          left join scim_tokens t on t.project_id = p.id and t.organization_id = o.id
            and t.hash = ${hashOf(authorization)} and t.revoked_at is null
            and (t.expires_at is null or t.expires_at > ${this.deps.clock.now()})
          where o.id = ${id}`,
        { prepare: 'directories.authenticate-organization' },
      ),
    );
    if (row) openProject(row.project_id);
    return row;
  }

  /** Whether the project exists and has SCIM on. */
  async isOn(projectId: string): Promise<boolean> {
    const on = sql<{ on: boolean }>`select scim_enabled and built_in is distinct from 'console' as "on"
      from projects where id = ${projectId}`;
    const [row] = await query(this.deps.db.alone, on, { prepare: 'directories.is-on' });
    return row?.on ?? false;
  }

  /** Records at most one event per token and hour, for any number of requests. */
  private async recordOtherNetwork({ project, id }: TenantKey, ip: string | undefined): Promise<void> {
    const { audit, clock, db } = this.deps;
    const now = clock.now();
    await db.transaction(async (em) => {
      const [token] = await query(
        em,
        sql<{ name: string }>`update scim_tokens set network_refused_at = ${now}
          where project_id = ${project.id} and id = ${id}
            and (network_refused_at is null or network_refused_at < ${secondsLater(now, -refusalsSeconds)})
          returning name`,
      );
      if (!token) return;
      const subject = { kind: 'scim-token', id, name: token.name };
      const actor = { kind: 'anonymous' as const, ...(ip === undefined ? {} : { ip }) };
      audit.record(em, { type: 'scim-token.network_refused', actor, projectId: project.id, subject });
    });
  }

  /** Tokens due for a warning, 30, 7 or 1 days before they expire. A token with a shorter lifetime has fewer warnings. */
  async expiring(): Promise<TenantKey[]> {
    const rows = await query(
      this.deps.db.alone,
      sql<{ project: string; id: string }>`select t.project_id as project, t.id from scim_tokens t
        where ${this.isDue()} order by t.expires_at limit ${maxWarnings}`,
    );
    return rows.map(({ project, id }) => keyIn(project, id));
  }

  /** Joins: claims the next warning of a token; undefined if it was given in the meantime. */
  async claimWarning(em: EntityManager, { project, id }: TenantKey): Promise<ExpiringToken | undefined> {
    const [row] = await query(
      em,
      sql<{ name: string; project_name: string; expires_at: string; days: number }>`
        update scim_tokens t set warned_days = ${this.daysLeft()} from projects p
        where p.id = t.project_id and t.project_id = ${project.id} and t.id = ${id} and ${this.isDue()}
        returning t.name, p.name as project_name, t.expires_at, t.warned_days as days`,
    );
    if (!row) return undefined;
    const { name, project_name: projectName, expires_at: at, days } = row;
    return { project, id, name, projectName, expiresAt: new Date(at), days };
  }

  /** SQL: the warning that is due for the token `t`, in days. */
  private daysLeft(): Fragment {
    const now = this.deps.clock.now();
    return sql`case when t.expires_at <= ${secondsLater(now, secondsOfDay)}::timestamptz then 1
      when t.expires_at <= ${secondsLater(now, 7 * secondsOfDay)}::timestamptz then 7 else 30 end`;
  }

  private isDue(): Fragment {
    const now = this.deps.clock.now();
    return sql`t.revoked_at is null and t.expires_at > ${now}::timestamptz
      and t.expires_at <= ${secondsLater(now, 30 * secondsOfDay)}::timestamptz
      and (t.warned_days is null or t.warned_days > ${this.daysLeft()})
      and t.created_at < t.expires_at - make_interval(days => ${this.daysLeft()})`;
  }

  private record(
    em: EntityManager,
    type: EventType,
    { expiresAt, hint, id, name, networks, project }: Omit<ScimToken, 'organization'>,
    organization: Organization | null,
    actor: Actor,
  ): void {
    const subject = { kind: 'scim-token', id, name };
    const detail = { hint, expiresAt: expiresAt?.toISOString() ?? null, networks };
    this.deps.audit.record(
      em,
      organization
        ? inside(type, organization, { subject, actor, detail })
        : { type, actor, projectId: project.id, subject, detail },
    );
  }
}

/** The filter for tokens of a directory. */
function tokensOf({ projectId, organizationId }: DirectoryOf): object {
  return organizationId == null
    ? { project: projectId, [isNull('organization_id')]: [] }
    : { organization: [projectId, organizationId] };
}

/** Refuses `not-found`, and `forbidden` for the project of the admins. */
async function ownerOf(em: EntityManager, whose: DirectoryOf) {
  const { organizationId, projectId } = whose;
  const project = await existing(em, Project, projectId, 'project');
  if (project.builtIn === 'console') {
    refuse({ code: 'forbidden', reason: 'SCIM is not available for the project of the admins' });
  }
  const organization =
    organizationId == null
      ? null
      : ((await existing(em, Organization, keyIn(projectId, organizationId), 'organization')) as Organization);
  return { project, organization, of: tokensOf(whose) };
}

/** SHA-256 of the token in `Bearer <token>`; of the empty string if there is none. */
function hashOf(authorization: string | undefined): string {
  return digest(/^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '');
}
