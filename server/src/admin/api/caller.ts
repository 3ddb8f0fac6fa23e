import type { EntityManager } from '@mikro-orm/postgresql';
import type { AdminClients, SentAdminToken } from '../../domain/admins/admin-clients.ts';
import type { Admins } from '../../domain/admins/admins.ts';
import { everything, type Grants, grantsOfClient } from '../../domain/admins/permission.ts';
import type { Audit } from '../../domain/audit/audit.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import { isCompactJws } from '../../domain/kernel/base64url.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { inAllProjects, inProject } from '../../domain/kernel/scope.ts';
import { sameSecret } from '../../domain/kernel/secret.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { keyIn, type TenantKey } from '../../domain/projects/tenant.ts';
import type { Sessions } from '../../domain/sessions/sessions.ts';

/** An authenticated caller of the admin API. */
export interface AdminCaller {
  kind: 'admin' | 'admin-token' | 'bootstrap-token' | 'client';
  grants: Grants;
  /** Id of the user, the token or the client; the bootstrap token has none. */
  id?: string;
  name: string;
  /** The scopes of a client; they limit its grants. Absent for admins, who are limited only by grants. */
  scopes?: readonly string[];
  /** The user of the session, or the creator of the token; of the console's project. */
  user?: TenantKey;
  /** Expiry of an admin API token, if it has one. */
  expiresAt?: Date;
  /** Last mail code or second factor in the session; null: none. Absent for tokens. */
  freshAt?: Date | null;
  /** The console's session; absent for tokens. */
  sessionId?: string;
  /** Methods of its last sign-in (RFC 8176); absent for tokens. */
  amr?: readonly string[];
  /**
   * Requests of callers with the same key share one queue: an account and the tokens that it created, or the
   * applications of a project.
   */
  turnsOf: string;
}

/** Header of the console's requests with the account that loaded the page. */
export const accountHeader = 'X-Latchkey-Account';

/** Credentials of a request. */
export interface Credentials {
  /** The `Authorization` header. If present, the cookie is ignored. */
  authorization: string | undefined;
  /** The secret of the console project's session cookie. */
  sessionSecret(consoleProjectId: string): string | undefined;
  /** Id of the user for whom the browser loaded the console; undefined: not a request of the console. */
  account: string | undefined;
  /** The DPoP proof that came with a token; null: none. */
  proof: SentAdminToken['proof'];
}

interface CallerDeps {
  db: Database;
  audit: Audit;
  admins: Admins;
  sessions: Sessions;
  adminClients: AdminClients;
  bootstrapToken: string | undefined;
}

/** Authenticates by bearer token, else by the console's session. */
export class AdminCallers {
  private readonly db: Database;
  private readonly audit: Audit;
  private readonly admins: Admins;
  private readonly sessions: Sessions;
  private readonly clients: AdminClients;
  private readonly bootstrapToken: string | undefined;

  constructor({ db, audit, admins, sessions, adminClients, bootstrapToken }: CallerDeps) {
    this.db = db;
    this.audit = audit;
    this.admins = admins;
    this.sessions = sessions;
    this.clients = adminClients;
    this.bootstrapToken = bootstrapToken;
  }

  /** Null if not authenticated. Records the use of a token, and extends a session's idle timeout. */
  async identify(credentials: Credentials, requested: Actor): Promise<AdminCaller | null> {
    const [, scheme = '', token] = /^(Bearer|DPoP) +([\x21-\x7e]+) *$/i.exec(credentials.authorization ?? '') ?? [];
    const isBearer = scheme.toLowerCase() === 'bearer';
    if (token !== undefined && isCompactJws(token) && token !== this.bootstrapToken) {
      return this.byClientToken({ token, scheme: isBearer ? 'Bearer' : 'DPoP', proof: credentials.proof });
    }
    // Admins are users of the console's project.
    const project = await this.db.reader().findOneOrFail(Project, { builtIn: 'console' });
    if (credentials.authorization === undefined) {
      return inProject(project.id, () => this.db.transaction((em) => this.bySession(em, project, credentials)));
    }
    if (!isBearer || token === undefined) return null;
    // A token does not name its project.
    return inAllProjects(() => this.db.transaction((em) => this.byToken(em, project, token, requested)));
  }

  private async byClientToken(sent: SentAdminToken): Promise<AdminCaller | null> {
    const client = await this.clients.byToken(sent);
    if (!client) return null;
    const { id, name, projectId, scopes } = client;
    return { kind: 'client', grants: grantsOfClient(projectId, scopes), id, name, scopes, turnsOf: projectId };
  }

  private async byToken(
    em: EntityManager,
    project: Project,
    token: string,
    requested: Actor,
  ): Promise<AdminCaller | null> {
    if (this.bootstrapToken !== undefined && sameSecret(token, this.bootstrapToken)) {
      const name = 'bootstrap token';
      const caller: AdminCaller = { kind: 'bootstrap-token', grants: everything, name, turnsOf: name };
      this.audit.record(em, { type: 'bootstrap-token.used', actor: actorFor(caller, requested) });
      return caller;
    }
    const found = await this.admins.byToken(em, token);
    if (!found) return null;
    const { adminToken, grants } = found;
    return {
      kind: 'admin-token',
      grants,
      id: adminToken.id,
      name: adminToken.name,
      turnsOf: adminToken.createdById ?? adminToken.id,
      ...(adminToken.expiresAt ? { expiresAt: adminToken.expiresAt } : {}),
      ...(adminToken.createdById ? { user: keyIn(project.id, adminToken.createdById) } : {}),
    };
  }

  private async bySession(em: EntityManager, project: Project, credentials: Credentials): Promise<AdminCaller | null> {
    const secret = credentials.sessionSecret(project.id);
    const session = secret === undefined ? null : await this.sessions.resume(em, project, secret);
    if (!session) return null;
    // If another admin has signed in to this browser since, the page has the data and the unsaved input of the first one.
    if (credentials.account !== undefined && credentials.account !== session.user.id) return null;
    const user = await session.user.loadOrFail();
    return {
      kind: 'admin',
      grants: await this.admins.grantsOfUser(em, user.id),
      id: user.id,
      name: user.email ?? user.userName,
      user: keyIn(project.id, user.id),
      freshAt: session.freshAt ?? null,
      sessionId: session.id,
      amr: session.amr,
      turnsOf: user.id,
    };
  }
}

/** The caller in the audit log. */
export function actorFor(caller: AdminCaller, requested: Actor): Actor {
  return { ...requested, kind: caller.kind, name: caller.name, ...(caller.id ? { id: caller.id } : {}) };
}
