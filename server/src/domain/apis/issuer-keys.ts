import type { JWK } from 'jose';
import type { Database } from '../kernel/database.ts';
import { type IdTokenAlgorithm, idTokenAlgorithms } from '../kernel/openid.ts';
import { inProject } from '../kernel/scope.ts';
import { query, sql } from '../kernel/sql.ts';
import type { Keys } from '../keys/keys.ts';
import { apiTokenAlgorithm } from '../keys/signer.ts';
import { type Issuer } from '../projects/issuer.ts';

/** Key sets of issuers. */
export class IssuerKeys {
  constructor(private readonly deps: { db: Database; keys: Keys }) {}

  /** The JWK Set (RFC 7517 §5); at a project's issuer, only keys that its clients and APIs verify tokens with. */
  async of({ project }: Issuer): Promise<{ keys: JWK[] }> {
    if (project === null) return this.deps.keys.jwks();
    const used = sql<{ alg: IdTokenAlgorithm }>`
      select id_token_signed_response_alg as alg from clients
        where project_id = ${project.id} and disabled_at is null
      union select ${apiTokenAlgorithm} from apis where project_id = ${project.id}`;
    const rows = await inProject(project.id, () => query(this.deps.db.alone, used, { prepare: 'issuer-keys.of' }));
    const [first] = idTokenAlgorithms;
    return this.deps.keys.jwksOf(rows.length === 0 ? [first] : rows.map(({ alg }) => alg));
  }
}
