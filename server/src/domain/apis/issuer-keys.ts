import type { JWK } from 'jose';
import { firstIdFrom } from '../audit/moment.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { type IdTokenAlgorithm, idTokenAlgorithms } from '../kernel/openid.ts';
import { inProject } from '../kernel/scope.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Keys } from '../keys/keys.ts';
import { defaultSchedule } from '../keys/schedule.ts';
import { apiTokenAlgorithm } from '../keys/signer.ts';
import { type Issuer } from '../projects/issuer.ts';

/** Key sets of issuers. */
export class IssuerKeys {
  constructor(private readonly deps: { db: Database; keys: Keys; clock: Clock }) {}

  /**
   * The JWK Set (RFC 7517 §5); at a project's issuer, only keys that its clients, its APIs and the servers of cross-app
   * access verify tokens with. An
   * algorithm that a client no longer uses stays until its last ID token has expired; the audit log has the change. The
   * tokens of a deleted API end with it.
   */
  async of({ project }: Issuer): Promise<{ keys: JWK[] }> {
    if (project === null) return this.deps.keys.jwks();
    const since = secondsLater(this.deps.clock.now(), -defaultSchedule.longestTokenSeconds);
    const used = sql<{ alg: IdTokenAlgorithm }>`
      select id_token_signed_response_alg as alg from clients
        where project_id = ${project.id} and (disabled_at is null or disabled_at >= ${since}::timestamptz)
      union select ${apiTokenAlgorithm} from apis where project_id = ${project.id}
      union select ${apiTokenAlgorithm} from clients where project_id = ${project.id} and cross_app_access is not null
      union select detail->'before'->>'idTokenSignedResponseAlg' from audit_log
        where project_id = ${project.id} and type in ('client.updated', 'client.deleted')
          and id >= ${firstIdFrom(since)}::uuid and at >= ${since}::timestamptz
          and detail->'before'->>'idTokenSignedResponseAlg' is not null`;
    const rows = await inProject(project.id, () => query(this.deps.db.alone, used, { prepare: 'issuer-keys.of' }));
    const [first] = idTokenAlgorithms;
    return this.deps.keys.jwksOf(rows.length === 0 ? [first] : rows.map(({ alg }) => alg));
  }
}
