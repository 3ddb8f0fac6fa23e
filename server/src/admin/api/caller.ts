import type { EntityManager } from '@mikro-orm/postgresql';
import type { Admins } from '../../domain/admins/admins.ts';
import { everything, type Grants } from '../../domain/admins/permission.ts';
import type { Audit } from '../../domain/audit/audit.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { inProject } from '../../domain/kernel/scope.ts';
import { sameSecret } from '../../domain/kernel/secret.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { keyIn, type TenantKey } from '../../domain/projects/tenant.ts';
import type { Sessions } from '../../domain/sessions/sessions.ts';

/** An authenticated caller of the admin API. */
export interface AdminCaller {
  kind: 'admin' | 'admin-token' | 'bootstrap-token';
  grants: Grants;
  /** Id of the user or the token; the bootstrap token has none. */
  id?: string;
  name: string;
  /** The user of the session, or the creator of the token; of the console's project. */
  user?: TenantKey;
  /** Last mail code or second factor in the session; null: none. Absent for tokens. */
  freshAt?: Date | null;
  /** The console's session; absent for tokens. */
  sessionId?: string;
}

/** Credentials of a request. */
export interface Credentials {
  /** The `Authorization` header. If present, the cookie is ignored. */
  authorization: string | undefined;
  /** The secret of the console project's session cookie. */
  sessionSecret(consoleProjectId: string): string | undefined;
}

/** Authenticates by bearer token, else by the console's session. */
export class AdminCallers {
  private readonly db: Database;
  private readonly audit: Audit;
  private readonly admins: Admins;
  private readonly sessions: Sessions;
  private readonly bootstrapToken: string | undefined;

  constructor(db: Database, audit: Audit, admins: Admins, sessions: Sessions, bootstrapToken: string | undefined) {
    this.db = db;
    this.audit = audit;
    this.admins = admins;
    this.sessions = sessions;
    this.bootstrapToken = bootstrapToken;
  }

  /** Null if not authenticated. Records the use of a token, and extends a session's idle timeout. */
  async identify(credentials: Credentials, requested: Actor): Promise<AdminCaller | null> {
    // Admins are users of the console's project.
    const project = await this.db.reader().findOneOrFail(Project, { builtIn: 'console' });
    return inProject(project.id, () =>
      this.db.transaction(async (em) => {
        if (credentials.authorization === undefined) return this.bySession(em, project, credentials);
        const [, token] = /^Bearer +([\x21-\x7e]+) *$/i.exec(credentials.authorization) ?? [];
        return token === undefined ? null : this.byToken(em, project, token, requested);
      }),
    );
  }

  private async byToken(
    em: EntityManager,
    project: Project,
    token: string,
    requested: Actor,
  ): Promise<AdminCaller | null> {
    if (this.bootstrapToken !== undefined && sameSecret(token, this.bootstrapToken)) {
      const caller: AdminCaller = { kind: 'bootstrap-token', grants: everything, name: 'bootstrap token' };
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
      ...(adminToken.createdById ? { user: keyIn(project.id, adminToken.createdById) } : {}),
    };
  }

  private async bySession(em: EntityManager, project: Project, credentials: Credentials): Promise<AdminCaller | null> {
    const secret = credentials.sessionSecret(project.id);
    const session = secret === undefined ? null : await this.sessions.resume(em, project, secret);
    if (!session) return null;
    const user = await session.user.loadOrFail();
    return {
      kind: 'admin',
      grants: await this.admins.grantsOfUser(em, user.id),
      id: user.id,
      name: user.email ?? user.userName,
      user: keyIn(project.id, user.id),
      freshAt: session.freshAt ?? null,
      sessionId: session.id,
    };
  }
}

/** The caller in the audit log. */
export function actorFor(caller: AdminCaller, requested: Actor): Actor {
  return { ...requested, kind: caller.kind, name: caller.name, ...(caller.id ? { id: caller.id } : {}) };
}
