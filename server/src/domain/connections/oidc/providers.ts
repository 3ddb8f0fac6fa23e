import { LRUCache } from 'lru-cache';
import { checkLogoutUri } from '../../clients/logout-uri.ts';
import type { FetchJson } from '../../clients/remote-keys.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { ProviderMetadata } from '../upstream.ts';

interface Read {
  at: Date;
  /** Time at which `metadata` was read; null: never. */
  readAt: Date | null;
  metadata: ProviderMetadata | null;
}

/** Time after which a document is read again. */
const freshSeconds = 3600;
/** Minimum time between reads of one document, also after a failure. */
const cooldownSeconds = 60;
/** Time for which a document is used while the provider cannot be read. */
const longestStaleSeconds = 24 * 3600;

/** Discovery documents of providers, cached in this process. */
export class Providers {
  private readonly read = new LRUCache<string, Promise<Read>>({ max: 1000 });

  constructor(private readonly deps: { clock: Clock; fetchJson: FetchJson; allowPrivateTargets: boolean }) {}

  /** Null if the document cannot be read, or is not of this issuer. */
  async at(issuer: string): Promise<ProviderMetadata | null> {
    const entry = this.read.get(issuer);
    const known = await entry;
    if (known && !this.isDue(known)) return this.usable(known);
    // Concurrent requests resume one by one; the first one may have begun to read for all.
    const latest = this.read.get(issuer);
    const reading = latest === undefined || latest === entry ? this.fetch(issuer, known) : latest;
    this.read.set(issuer, reading);
    return this.usable(await reading);
  }

  private usable({ readAt, metadata }: Read): ProviderMetadata | null {
    return readAt && this.deps.clock.now() < secondsLater(readAt, longestStaleSeconds) ? metadata : null;
  }

  private isDue(known: Read): boolean {
    const now = this.deps.clock.now();
    // Read in the future: the clock was ahead.
    if (known.at > now) return true;
    return now >= secondsLater(known.at, this.usable(known) === null ? cooldownSeconds : freshSeconds);
  }

  private async fetch(issuer: string, known: Read | undefined): Promise<Read> {
    const at = this.deps.clock.now();
    // OpenID Connect Discovery 1.0 section 4.1.
    const answer = await this.deps.fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const metadata = 'json' in answer ? this.parsed(issuer, answer.json) : null;
    if (metadata) return { at, readAt: at, metadata };
    return { at, readAt: known?.readAt ?? null, metadata: known?.metadata ?? null };
  }

  /** Null unless the document names this issuer (section 4.3) and usable endpoints. */
  private parsed(issuer: string, json: unknown): ProviderMetadata | null {
    if (typeof json !== 'object' || json === null) return null;
    const document = json as Record<string, unknown>;
    const address = (name: string) => {
      const value = document[name];
      return typeof value === 'string' && checkLogoutUri(value, this.deps.allowPrivateTargets) === null ? value : null;
    };
    const authorizationEndpoint = address('authorization_endpoint');
    const [tokenEndpoint, jwksUri] = [address('token_endpoint'), address('jwks_uri')];
    if (document['issuer'] !== issuer || !authorizationEndpoint || !tokenEndpoint || !jwksUri) return null;
    const methods = document['token_endpoint_auth_methods_supported'];
    return {
      issuer,
      ...{ authorizationEndpoint, tokenEndpoint, jwksUri },
      userInfoEndpoint: address('userinfo_endpoint'),
      postsSecret: Array.isArray(methods) && !methods.includes('client_secret_basic'),
      sendsIss: document['authorization_response_iss_parameter_supported'] === true,
    };
  }
}
