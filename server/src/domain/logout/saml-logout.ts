import { usedAssertion } from '../clients/assertions/client-assertions.ts';
import { Client } from '../clients/client.entity.ts';
import type { NameIdKind } from '../clients/saml/saml.resource.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { digest, isUuid, sameSecret } from '../kernel/secret.ts';
import { type Fragment, query, type Statement, sql } from '../kernel/sql.ts';
import { keyIn } from '../projects/tenant.ts';
import type { LogoutRequest } from '../saml/messages/logout.ts';
import { nameIdFormats } from '../saml/names.ts';
import { sessionIndexOf } from '../tokens/saml/saml-answers.ts';
import type { NameId, SamlNameIds } from '../tokens/saml/saml-name-ids.ts';
import { subColumn } from '../users/identity/sub.ts';
import type { EndedSessions, Logout } from './logout.ts';

/** Requests are remembered for longer than they are accepted. */
const rememberSeconds = 3600;

/** A SAML application to be asked to end its sessions of one user. */
export interface Participant {
  client: Client;
  /** The issuer of its latest response. */
  issuer: string;
  nameId: NameId;
  sessionIndexes: readonly string[];
}

/** A participation of a SAML application in a session. */
interface Part {
  clientId: string;
  sessionId: string;
  issuer: string | null;
  /** Null: the participation is of the previous release. */
  kind: NameIdKind | null;
  userId: string;
  sub: string;
  email: string | null;
}

/** A logout request that was sent to an application. */
export interface SentRequest {
  clientId: string;
  requestId: string;
}

const allKinds: readonly NameIdKind[] = ['persistent', 'pairwise', 'email', 'transient', 'attribute'];

/** Single logout of SAML applications. */
export class SamlLogout {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      logout: Pick<Logout, 'endSession' | 'endAllOfUser'>;
      samlNameIds: Pick<SamlNameIds, 'of'>;
    },
  ) {}

  /**
   * Ends the session that a verified request names by NameID and SessionIndex, if the application takes part in it: an
   * application cannot log out another one's users. A request without a SessionIndex is for all sessions of the user (SAML Core
   * section 3.7.1): that of the browser says who it is. `refused`: there is no such session, or the request was used before.
   *
   * @param held the session of the browser
   */
  async end(
    client: Client,
    { id, nameId, sessionIndexes }: LogoutRequest,
    held: string | undefined,
    actor: Actor,
  ): Promise<EndedSessions | 'refused'> {
    const { logout } = this.deps;
    const [index, another] = sessionIndexes;
    const sessionId = index === undefined ? held : index.slice(1);
    const isOne = another === undefined && (index === undefined || index === sessionIndexOf(sessionId ?? ''));
    if (!isOne || sessionId === undefined || !isUuid(sessionId)) return 'refused';
    const live = sql`s.ended_at is null and k.id = ${client.id}::uuid`;
    const [part] = await query(this.deps.db.alone, partsOf(client.project.id, [sessionId], live));
    if (!part || !(await this.isNamed(client, part, nameId))) return 'refused';
    if (!(await this.isFirst(client, `saml-logout:${id}`))) return 'refused';
    const { project } = client;
    return index === undefined
      ? logout.endAllOfUser(keyIn(project.id, part.userId), actor, client.id)
      : logout.endSession(keyIn(project.id, sessionId), actor, client.id);
  }

  /**
   * The applications that take part in sessions which have ended, one row for each NameID.
   *
   * @param exceptId the application that asked for the logout
   */
  async participants(projectId: string, sessions: EndedSessions, exceptId?: string): Promise<Participant[]> {
    if (sessions.length === 0) return [];
    const { db } = this.deps;
    const others = exceptId === undefined ? sql`true` : sql`k.id <> ${exceptId}::uuid`;
    const parts = await query(db.alone, partsOf(projectId, sessions, others));
    if (parts.length === 0) return [];
    const ids = [...new Set(parts.map(({ clientId }) => clientId))];
    const clients = await db.reader().find(Client, { project: projectId, id: { $in: ids } });
    const found = new Map<string, Participant & { sessionIndexes: string[] }>();
    for (const part of parts) {
      const client = clients.find(({ id }) => id === part.clientId);
      const nameId = client && (await this.deps.samlNameIds.of(part.kind ?? client.samlNameId, client, part));
      if (!nameId || part.issuer === null) continue;
      const key = JSON.stringify([client.id, part.issuer, nameId]);
      const row = found.get(key) ?? { client, issuer: part.issuer, nameId, sessionIndexes: [] };
      row.sessionIndexes.push(sessionIndexOf(part.sessionId));
      found.set(key, row);
    }
    return [...found.values()];
  }

  /** Records that an application has ended its session, as the answer to one of our requests. */
  async confirm(client: Client, requestId: string): Promise<void> {
    await this.isFirst(client, confirmation(requestId));
  }

  /** The requests that their applications have confirmed. */
  async confirmed(projectId: string, sent: readonly SentRequest[]): Promise<SentRequest[]> {
    const wanted = sent.map((one) => ({ clientId: one.clientId, hash: digest(confirmation(one.requestId)), one }));
    const found = await query(
      this.deps.db.alone,
      sql<{ clientId: string; hash: string }>`select client_id as "clientId", jti_hash as hash from used_assertions
        where project_id = ${projectId}::uuid and jti_hash = any(${wanted.map(({ hash }) => hash)}::text[])`,
    );
    return wanted
      .filter(({ clientId, hash }) => found.some((row) => row.clientId === clientId && row.hash === hash))
      .map(({ one }) => one);
  }

  private async isNamed(client: Client, part: Part, { format, value }: LogoutRequest['nameId']): Promise<boolean> {
    const kinds = part.kind === null ? allKinds : [part.kind];
    const all = await Promise.all(kinds.map((kind) => this.deps.samlNameIds.of(kind, client, part)));
    return all.some((expected) => {
      const isFormat = format === undefined || format === nameIdFormats.unspecified || format === expected?.format;
      return expected !== null && isFormat && sameSecret(expected.value, value);
    });
  }

  /** Records a value of the application; false if it is known. */
  private async isFirst(client: Client, value: string): Promise<boolean> {
    const forgetAt = secondsLater(this.deps.clock.now(), rememberSeconds);
    const recorded = { jtiHash: digest(value), keyHash: null, forgetAt };
    const statement = sql<{ is_first: boolean }>`with client as (
        select ${client.project.id}::uuid as project_id, ${client.id}::uuid as id
      ), used as (${usedAssertion(recorded)}) select exists (select 1 from used) as is_first`;
    const [used] = await query(this.deps.db.alone, statement);
    return used?.is_first === true;
  }
}

const confirmation = (requestId: string) => `saml-logout-confirmed:${requestId}`;

/** SQL: the participations of SAML applications `k` in sessions `s`, by first use. */
function partsOf(projectId: string, sessionIds: readonly string[], where: Fragment): Statement<Part> {
  const project = sql`${projectId}::uuid`;
  return sql<Part>`select k.id as "clientId", s.id as "sessionId", p.issuer, p.saml_name_id as kind, u.id as "userId",
      ${subColumn('u')} as sub, u.email
    from sessions s join users u on u.project_id = ${project} and u.id = s.user_id
      join participations p on p.project_id = ${project} and p.session_id = s.id
      join clients k on k.project_id = ${project} and k.id = p.client_id
    where s.project_id = ${project} and s.id = any(${sessionIds}::uuid[]) and k.saml_entity_id is not null
      and k.disabled_at is null and ${where}
    order by p.first_at, s.id`;
}
