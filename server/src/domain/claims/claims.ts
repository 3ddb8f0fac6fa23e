import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import { isUuid } from '../kernel/secret.ts';
import { type Executing, query, sql } from '../kernel/sql.ts';
import { projectIssuerUrl } from '../projects/issuer.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, type TenantKey } from '../projects/tenant.ts';
import { applicationClaims, type ClaimSet, idTokenMembers, userInfoMembers } from './application-claims.ts';
import { ClaimSettingsRow } from './claim-settings.entity.ts';
import {
  type ClaimSettings,
  type ClaimSettingsChange,
  changedSettings,
  defaultClaimSettings,
} from './claim-settings.ts';
import { readClaimSource } from './claim-source.ts';

/** A user at a client, with the scopes that were granted. */
export interface ClaimRequest {
  client: TenantKey;
  userId: string;
  scopes: readonly string[];
}

/** The claims of a user for a client, as the admin API shows them. */
export interface ClaimPreview extends ClaimSet {
  idToken: Record<string, unknown>;
  userInfo: Record<string, unknown>;
}

/** Claims for applications at the issuers of projects. The base issuer does not use them. */
export class Claims {
  constructor(private readonly deps: { db: Database; clock: Clock; audit: Audit; issuer: string }) {}

  /** The settings of a client. Refuses `not-found`. */
  async settings(em: EntityManager, client: TenantKey): Promise<ClaimSettings> {
    await existing(em, Client, client, 'client');
    return settingsOf(await em.findOne(ClaimSettingsRow, rowKey(client)));
  }

  /**
   * Changes the settings of a client; they apply to the next token. Refuses `not-found`, `invalid`, and `conflict` if
   * their version is not the expected one.
   */
  update(
    client: TenantKey,
    wanted: ClaimSettingsChange & { expectedVersion?: number | undefined },
    actor: Actor,
  ): Promise<ClaimSettings> {
    return this.deps.db.transaction(async (em) => {
      // Serializes the changes, also while there is no row.
      const { name } = found(await this.locked(em, client), 'client');
      const row = await em.findOne(ClaimSettingsRow, rowKey(client), { refresh: true });
      const current = settingsOf(row);
      if (wanted.expectedVersion !== undefined && wanted.expectedVersion !== current.version) {
        refuse({ code: 'conflict', what: 'client' });
      }
      const next = changedSettings(current, wanted);
      const { version, ...values } = next;
      const { version: _, ...before } = current;
      const changed = change(before, values);
      if (!changed) return current;
      const written = { ...values, version: version + 1, updatedAt: this.deps.clock.now() };
      if (row) Object.assign(row, written);
      else
        em.persist(
          em.create(ClaimSettingsRow, {
            project: client.project.id,
            client: [client.project.id, client.id],
            ...written,
          }),
        );
      this.deps.audit.record(em, {
        type: 'client.claims_updated',
        actor,
        projectId: client.project.id,
        clientId: client.id,
        subject: { kind: 'client', id: client.id, name },
        detail: { ...changed },
      });
      return { ...next, version: version + 1 };
    });
  }

  /**
   * The members of an ID token about the user, except `sub` and those of the protocol. Null if the user is inactive or
   * unknown.
   *
   * @param userInfoEndpoint the address at which an application finds lists beyond the limit
   */
  async forIdToken(
    em: Executing,
    request: ClaimRequest,
    userInfoEndpoint: string,
  ): Promise<Record<string, unknown> | null> {
    const made = await this.made(em, request);
    return made?.isActive ? idTokenMembers(made.set, made.settings, userInfoEndpoint) : null;
  }

  /** The members of the UserInfo response about the user, except `sub`. Null if the user is inactive or unknown. */
  async forUserInfo(em: Executing, request: ClaimRequest): Promise<Record<string, unknown> | null> {
    const made = await this.made(em, request);
    return made?.isActive ? userInfoMembers(made.set) : null;
  }

  /** The same, also for inactive users: their logout names the value that the application received. */
  async evenOfInactive(em: Executing, request: ClaimRequest): Promise<Record<string, unknown>> {
    const made = await this.made(em, request);
    return made ? userInfoMembers(made.set) : {};
  }

  /**
   * The claims that the application would receive. Refuses `not-found` for a user of another project, and `invalid`.
   *
   * @param draft unsaved changes of the settings
   */
  async preview(em: EntityManager, request: ClaimRequest, draft?: ClaimSettingsChange): Promise<ClaimPreview> {
    const { set, settings, sub } = found(await this.made(em, request, draft), 'user');
    const { slug } = await em.findOneOrFail(Project, request.client.project.id);
    const userInfoEndpoint = `${projectIssuerUrl(this.deps.issuer, slug)}/userinfo`;
    return {
      ...set,
      idToken: { sub, ...idTokenMembers(set, settings, userInfoEndpoint) },
      userInfo: { sub, ...userInfoMembers(set) },
    };
  }

  private async made(em: Executing, { client, userId, scopes }: ClaimRequest, draft?: ClaimSettingsChange) {
    const read = isUuid(userId) && isUuid(client.id) ? await readClaimSource(em, client, userId) : null;
    if (!read) return null;
    const settings = draft ? changedSettings(read.settings, draft) : read.settings;
    return {
      settings,
      sub: read.sub,
      set: applicationClaims(settings, scopes, read.source),
      isActive: read.source.user.active === true,
    };
  }

  private async locked(em: EntityManager, { project, id }: TenantKey): Promise<{ name: string } | undefined> {
    if (!isUuid(id)) return undefined;
    const [row] = await query(
      em,
      sql<{ name: string }>`select name from clients where project_id = ${project.id} and id = ${id} for no key update`,
    );
    return row;
  }
}

const rowKey = ({ project, id }: TenantKey) => ({ project: project.id, client: [project.id, id] as [string, string] });

/** A copy that `change` can modify. */
function settingsOf(row: ClaimSettingsRow | null): ClaimSettings {
  const {
    groups,
    groupPrefix = null,
    listLimit,
    rolesClaim,
    directoryRoles,
    mappings,
    version,
  } = row ?? defaultClaimSettings;
  return { groups, groupPrefix, listLimit, rolesClaim, directoryRoles, mappings, version };
}
