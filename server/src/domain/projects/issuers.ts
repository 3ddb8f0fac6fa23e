import { Cache } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import { baseIssuer, type Issuer, projectIssuer, projectIssuerUrl } from './issuer.ts';
import { isSlug } from './slug.ts';

const cacheSeconds = 60;
const cacheSize = 10_000;

/** The issuers of this instance. */
export class Issuers {
  readonly base: Issuer;
  private readonly bySlug: Cache<Issuer>;

  constructor(private readonly deps: { db: Database; clock: Clock; issuer: string }) {
    this.base = baseIssuer(deps.issuer);
    this.bySlug = new Cache(deps.clock, cacheSeconds, cacheSize);
  }

  /**
   * The issuer of the project with this slug; null if there is none. Possibly cached: a slug never changes, and whatever
   * is granted at the issuer is granted for a client whose project has that slug (decisions/0080, 0109).
   */
  async ofSlug(slug: string): Promise<Issuer | null> {
    return isSlug(slug) ? this.bySlug.get(slug, () => this.read(slug)) : null;
  }

  /** The issuer of a project by its address, `iss` of a token that is not verified yet; null if there is none. */
  async ofUrl(url: unknown): Promise<Issuer | null> {
    const prefix = projectIssuerUrl(this.deps.issuer, '');
    return typeof url === 'string' && url.startsWith(prefix) ? this.ofSlug(url.slice(prefix.length)) : null;
  }

  private async read(slug: string): Promise<Issuer | null> {
    const statement = sql<{ id: string }>`select id from projects where slug = ${slug}`;
    const [project] = await query(this.deps.db.alone, statement, { prepare: 'issuers.of-slug' });
    return project ? projectIssuer(this.deps.issuer, { id: project.id, slug }) : null;
  }
}
