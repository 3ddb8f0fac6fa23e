import { decodeJwt, errors } from 'jose';
import { Cache } from '../kernel/cache.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import {
  type AcceptedClients,
  baseIssuer,
  domainIssuer,
  type Issuer,
  projectIssuer,
  projectIssuerUrl,
} from './issuer.ts';
import { domainOrigin, hostNameOf, hostSyntax } from './site.ts';
import { isSlug } from './slug.ts';

const cacheSeconds = 60;
/** Cache lifetime of a host that is not a custom domain. */
const unknownHostSeconds = 10;
const cacheSize = 10_000;

/** A cached lookup of a host. `released`: it was a custom domain, and no longer is. */
interface KnownHost {
  issuer: Issuer | 'released' | null;
}

/** The issuers of this instance. */
export class Issuers {
  readonly base: Issuer;
  private readonly baseHost: string;
  private readonly bySlug: Cache<Issuer>;
  private readonly byHost: Cache<KnownHost>;

  constructor(private readonly deps: { db: Database; clock: Clock; issuer: string }) {
    this.base = baseIssuer(deps.issuer);
    this.baseHost = new URL(deps.issuer).hostname;
    this.bySlug = new Cache(deps.clock, cacheSeconds, cacheSize);
    this.byHost = new Cache(deps.clock, unknownHostSeconds, cacheSize);
  }

  /**
   * The issuer of the project with this slug; null if there is none. Possibly cached: a slug never changes, and each
   * grant at the issuer is for a client whose project has that slug (decisions/0080, 0109).
   */
  async ofSlug(slug: string): Promise<Issuer | null> {
    return isSlug(slug) ? this.bySlug.get(slug, () => this.read(slug)) : null;
  }

  /**
   * The issuer at a custom domain, by the Host header; `released` if the host was one, null if it never was: the base
   * issuer serves it. Only null is cached, so that a released domain is never served (decisions/0122).
   */
  async ofHost(header: string): Promise<Issuer | 'released' | null> {
    const host = hostNameOf(header);
    if (!this.mayBeDomain(host)) return null;
    const { issuer } = (await this.byHost.get(host, () => this.readHost(host))) as KnownHost;
    if (issuer !== null) this.byHost.invalidate(host);
    return issuer;
  }

  /** Whether a host is the base host or a custom domain: a certificate may be issued for it. */
  async serves(host: string): Promise<boolean> {
    if (hostNameOf(host) === this.baseHost) return true;
    const issuer = await this.ofHost(host);
    return issuer !== null && issuer !== 'released';
  }

  /** Whether a Host header can name a custom domain: neither the base host, nor an IP address, nor a single label. */
  mayBeDomain(header: string): boolean {
    const host = hostNameOf(header);
    return host !== this.baseHost && hostSyntax.test(host);
  }

  /** The issuer of a project by its address, `iss` of a token that is not verified yet; null if there is none. */
  async ofUrl(url: unknown): Promise<Issuer | null> {
    if (typeof url !== 'string') return null;
    const prefix = projectIssuerUrl(this.deps.issuer, '');
    if (url.startsWith(prefix)) return this.ofSlug(url.slice(prefix.length));
    const issuer = URL.canParse(url) ? await this.ofHost(new URL(url).host) : null;
    return issuer !== null && issuer !== 'released' && issuer.url === url ? issuer : null;
  }

  /** The issuer that a token names, which is not verified yet; null if there is none. */
  async ofToken(token: string): Promise<Issuer | null> {
    return this.ofUrl(claimedIssuer(token));
  }

  /** The address that links in messages of a project begin with: its oldest custom domain, or the base address. */
  async linkOrigin(projectId: string): Promise<string> {
    const statement = sql<{ host: string }>`select host from verified_hosts
      where project_id = ${projectId} and released_at is null order by verified_at, host limit 1`;
    const [first] = await query(this.deps.db.alone, statement, { prepare: 'issuers.link-origin' });
    return first ? domainOrigin(this.deps.issuer, first.host) : this.deps.issuer;
  }

  private async read(slug: string): Promise<Issuer | null> {
    const statement = sql<
      { id: string; enabled: boolean } & AcceptedClients
    >`select p.id, p.organizations_enabled as enabled, ${accepted} from projects p where p.slug = ${slug}`;
    const [project] = await query(this.deps.db.alone, statement, { prepare: 'issuers.of-slug' });
    if (!project) return null;
    const { id, enabled, ...accepts } = project;
    return projectIssuer(this.deps.issuer, { id, slug, organizationsEnabled: enabled }, accepts);
  }

  private async readHost(host: string): Promise<KnownHost> {
    const statement = sql<
      { id: string | null; slug: string | null; enabled: boolean; isReleased: boolean } & AcceptedClients
    >`
      select p.id, p.slug, p.organizations_enabled as enabled, ${accepted}, h.released_at is not null or p.id is null as "isReleased"
      from verified_hosts h left join projects p on p.id = h.project_id where h.host = ${host}`;
    const [found] = await query(this.deps.db.alone, statement, { prepare: 'issuers.of-host' });
    if (!found) return { issuer: null };
    const { id, slug, enabled, isReleased, ...accepts } = found;
    if (isReleased || id === null || slug === null) return { issuer: 'released' };
    const project = { id, slug, organizationsEnabled: enabled };
    return { issuer: domainIssuer(domainOrigin(this.deps.issuer, host), project, accepts) };
  }
}

/** SQL: columns of project `p`. */
const accepted = sql`p.client_metadata_documents <> 'off' as documents, p.client_registration <> 'off' as registration`;

function claimedIssuer(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
