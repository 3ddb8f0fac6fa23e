import { usedAssertion } from '../clients/assertions/client-assertions.ts';
import type { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { digest, isUuid, sameSecret } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import { keyIn } from '../projects/tenant.ts';
import type { LogoutRequest } from '../saml/messages/logout.ts';
import { nameIdFormats } from '../saml/names.ts';
import { type NameIdKind, type SamlAnswers, sessionIndexOf } from '../tokens/saml-answers.ts';
import { subColumn } from '../users/identity/sub.ts';
import type { Logout } from './logout.ts';

/** Requests are remembered for longer than they are accepted. */
const rememberSeconds = 3600;

/** Logout by a SAML application. */
export class SamlLogout {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      logout: Pick<Logout, 'endSession'>;
      samlAnswers: Pick<SamlAnswers, 'nameId'>;
    },
  ) {}

  /**
   * Ends the session that a verified request names by NameID and SessionIndex, if the application takes part in it: an
   * application cannot log out another one's users. `refused`: there is no such session, or the request was used before.
   * `partial`: other SAML applications take part, which are not notified.
   */
  async end(
    client: Client,
    { id, nameId, sessionIndexes }: LogoutRequest,
    actor: Actor,
  ): Promise<'ended' | 'partial' | 'refused'> {
    const { db, logout } = this.deps;
    const [index, another] = sessionIndexes;
    const sessionId = index?.slice(1) ?? '';
    if (another !== undefined || index !== sessionIndexOf(sessionId) || !isUuid(sessionId)) return 'refused';
    const project = sql`${client.project.id}::uuid`;
    const [found] = await query(
      db.alone,
      sql<{ sub: string; email: string | null; others: boolean }>`select ${subColumn('u')} as sub, u.email,
          exists (select 1 from participations o join clients k on k.project_id = o.project_id and k.id = o.client_id
            where o.project_id = ${project} and o.session_id = s.id and k.saml_entity_id is not null
              and k.id <> ${client.id}::uuid) as others
        from sessions s join users u on u.project_id = ${project} and u.id = s.user_id
          join participations p on p.project_id = ${project} and p.session_id = s.id and p.client_id = ${client.id}::uuid
        where s.project_id = ${project} and s.id = ${sessionId}::uuid and s.ended_at is null`,
    );
    if (!found || !this.isNamed(client, { ...found, session_id: sessionId }, nameId)) return 'refused';
    if (!(await this.isFirst(client, id))) return 'refused';
    await logout.endSession(keyIn(client.project.id, sessionId), actor);
    return found.others ? 'partial' : 'ended';
  }

  private isNamed(
    client: Client,
    user: { sub: string; email: string | null; session_id: string },
    { format, value }: LogoutRequest['nameId'],
  ): boolean {
    const kinds: NameIdKind[] = ['persistent', 'email', 'transient'];
    return kinds.some((kind) => {
      const expected = this.deps.samlAnswers.nameId(kind, client, user);
      const isFormat = format === undefined || format === nameIdFormats.unspecified || format === expected?.format;
      return expected !== null && isFormat && sameSecret(expected.value, value);
    });
  }

  /** Records the ID of the request; false if it is known. */
  private async isFirst(client: Client, id: string): Promise<boolean> {
    const forgetAt = secondsLater(this.deps.clock.now(), rememberSeconds);
    const request = { jtiHash: digest(`saml-logout:${id}`), keyHash: null, forgetAt };
    const statement = sql<{ is_first: boolean }>`with client as (
        select ${client.project.id}::uuid as project_id, ${client.id}::uuid as id
      ), used as (${usedAssertion(request)}) select exists (select 1 from used) as is_first`;
    const [used] = await query(this.deps.db.alone, statement);
    return used?.is_first === true;
  }
}
