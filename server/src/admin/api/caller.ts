import type { EntityManager } from '@mikro-orm/postgresql';
import type { Admins } from '../../domain/admins/admins.ts';
import { everything, type Grants } from '../../domain/admins/permission.ts';
import type { Audit } from '../../domain/audit/audit.ts';
import type { Actor } from '../../domain/kernel/actor.ts';
import type { Database } from '../../domain/kernel/database.ts';
import { sameSecret } from '../../domain/kernel/secret.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import type { Sessions } from '../../domain/sessions/sessions.ts';

/** Who calls the admin API, and what they may do. */
export interface Caller {
  kind: 'admin' | 'admin-token' | 'bootstrap-token';
  grants: Grants;
  /** The user's or the token's id; the bootstrap token has none. */
  id?: string;
  name: string;
  /** The admin behind it: the session's user, or who made the token. */
  userId?: string;
  /** When a mail code or factor last proved the session's user; null: never. Absent for tokens. */
  freshAt?: Date | null;
  /** The console's session; absent for tokens. */
  sessionId?: string;
}

/** The credentials that a request brings. */
export interface Credentials {
  /** The `Authorization` header. Where it is there, it alone counts. */
  authorization: string | undefined;
  /** The secret of the console project's session cookie. */
  sessionSecret(consoleProjectId: string): string | undefined;
}

/** Finds out who calls: by bearer token, else by the console's session. */
export class Callers {
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

  /** Null for strangers. Notes the use of a token, and slides a session's idle limit. */
  identify(credentials: Credentials, requested: Actor): Promise<Caller | null> {
    return this.db.transaction(async (em) => {
      if (credentials.authorization === undefined) return this.bySession(em, credentials);
      const [, token] = /^Bearer +([\x21-\x7e]+) *$/i.exec(credentials.authorization) ?? [];
      return token === undefined ? null : this.byToken(em, token, requested);
    });
  }

  private async byToken(em: EntityManager, token: string, requested: Actor): Promise<Caller | null> {
    if (this.bootstrapToken !== undefined && sameSecret(token, this.bootstrapToken)) {
      const caller: Caller = { kind: 'bootstrap-token', grants: everything, name: 'bootstrap token' };
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
      ...(adminToken.createdById ? { userId: adminToken.createdById } : {}),
    };
  }

  private async bySession(em: EntityManager, credentials: Credentials): Promise<Caller | null> {
    const project = await em.findOneOrFail(Project, { builtIn: 'console' });
    const secret = credentials.sessionSecret(project.id);
    const session = secret === undefined ? null : await this.sessions.resume(em, project, secret);
    if (!session) return null;
    const user = await session.user.loadOrFail();
    return {
      kind: 'admin',
      grants: await this.admins.grantsOfUser(em, user.id),
      id: user.id,
      name: user.email ?? user.userName,
      userId: user.id,
      freshAt: session.freshAt ?? null,
      sessionId: session.id,
    };
  }
}

/** The caller, as the audit log names them. */
export function actorFor(caller: Caller, requested: Actor): Actor {
  return { ...requested, kind: caller.kind, name: caller.name, ...(caller.id ? { id: caller.id } : {}) };
}
