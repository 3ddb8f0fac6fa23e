import type { JWK } from 'jose';
import { JWTVerificationError } from './error.ts';
import { OutgoingError, objectIn, send } from './outgoing.ts';
import { ofJwk, type VerificationKey } from './public-key.ts';

const defaultTimeoutMs = 5_000;
const maxBytes = 256 * 1024;
const maxKeys = 100;
/** Refetch after this, so that a withdrawn key is soon dropped. */
const freshMs = 5 * 60_000;
/** Use stale keys this long if a fetch fails, so that a restart of the service breaks no sign-in. */
const staleMs = 60 * 60_000;
/** After a failed fetch, or one that did not have the requested key ID, the next fetch waits for this. */
const cooldownMs = 30_000;

interface RemoteKey {
  kid: string | undefined;
  alg: string | undefined;
  key: VerificationKey;
}

interface Fetched {
  keys: RemoteKey[];
  at: number;
}

/** Key parameters from a token's header. */
export interface KeyQuery {
  alg: string;
  kid: string | undefined;
}

/** A JSON Web Key Set by URL (RFC 7517 §5): cached, with at most one fetch in flight. */
export class RemoteKeys {
  private readonly url: string;
  private readonly now: () => number;
  private readonly timeoutMs: number;
  private readonly allowInsecureHttp: boolean;
  private fetched: Fetched | undefined;
  private failedAt = Number.NEGATIVE_INFINITY;
  private missedAt = Number.NEGATIVE_INFINITY;
  private inFlight: Promise<Fetched> | undefined;

  constructor(url: string, options: { now?: () => number; timeoutMs?: number; allowInsecureHttp?: boolean } = {}) {
    this.url = url;
    this.now = options.now ?? Date.now;
    this.timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    this.allowInsecureHttp = options.allowInsecureHttp ?? false;
  }

  /** Resolves once keys are loaded. Throws {@link JWTVerificationError}. */
  async ready(): Promise<void> {
    await this.current();
  }

  /** The key for a token's header. Throws {@link JWTVerificationError}. */
  async find(query: KeyQuery): Promise<VerificationKey> {
    const last = this.fetched;
    const current = await this.current();
    const found = matching(current.keys, query);
    if (found) return found;
    // A new key must be found immediately, even right after a fetch. Only a fetch that does not find the key starts the
    // cooldown: it limits what made-up key IDs can cause.
    if (current === last && (this.inFlight || this.now() - Math.max(this.missedAt, this.failedAt) >= cooldownMs)) {
      const again = matching((await this.fetch()).keys, query);
      if (again) return again;
      this.missedAt = this.now();
    }
    throw new JWTVerificationError('UNKNOWN_KEY', 'jwksUrl has no key with the token’s kid.');
  }

  private async current(): Promise<Fetched> {
    const last = this.fetched;
    const age = last ? this.now() - last.at : Number.POSITIVE_INFINITY;
    if (last && age < freshMs) return last;
    if (last && age < staleMs && this.now() - this.failedAt < cooldownMs) return last;
    try {
      return await this.fetch();
    } catch (error) {
      if (last && age < staleMs) return last;
      throw error;
    }
  }

  private fetch(): Promise<Fetched> {
    this.inFlight ??= this.fetchNow().finally(() => {
      this.inFlight = undefined;
    });
    return this.inFlight;
  }

  private async fetchNow(): Promise<Fetched> {
    try {
      this.fetched = { keys: await keysIn(await this.read()), at: this.now() };
    } catch (error) {
      this.failedAt = this.now();
      throw error;
    }
    return this.fetched;
  }

  private async read(): Promise<Record<string, unknown>> {
    const { allowInsecureHttp, timeoutMs } = this;
    const headers = { Accept: 'application/jwk-set+json, application/json' };
    const answer = await send(this.url, {
      method: 'GET',
      headers,
      timeoutMs,
      maxBytes,
      allowInsecureHttp,
    }).catch((cause: unknown) => {
      if (!(cause instanceof OutgoingError)) throw cause;
      const insecure = cause.fault === 'insecure-url' || cause.fault === 'invalid-url';
      throw new JWTVerificationError(
        insecure ? 'JWKS_INSECURE_URL' : 'JWKS_UNAVAILABLE',
        `The keys at jwksUrl could not be fetched: ${cause.message}`,
        { cause },
      );
    });
    if (answer.status !== 200) {
      throw new JWTVerificationError('JWKS_UNAVAILABLE', `jwksUrl responded with status ${answer.status}.`);
    }
    return objectIn(answer.body) ?? invalid('is not a JSON object');
  }
}

/** Ignores symmetric and unknown key types (RFC 7517 §5). */
async function keysIn({ keys }: Record<string, unknown>): Promise<RemoteKey[]> {
  if (!Array.isArray(keys)) invalid('has no keys');
  if (keys.length > maxKeys) invalid(`has more than ${maxKeys} keys`);
  const read = keys.map(async (jwk: unknown): Promise<RemoteKey[]> => {
    if (typeof jwk !== 'object' || jwk === null) return [];
    const { kid, alg, use, d, k, key_ops: operations } = jwk as Record<string, unknown>;
    if (d !== undefined || k !== undefined || (use !== undefined && use !== 'sig')) return [];
    if (Array.isArray(operations) && !operations.includes('verify')) return [];
    const key = await ofJwk(jwk as JWK);
    return key ? [{ kid: text(kid), alg: text(alg), key }] : [];
  });
  return (await Promise.all(read)).flat();
}

/** Matches by key type. Without a `kid`, the match must be unique. */
function matching(keys: RemoteKey[], query: KeyQuery): VerificationKey | undefined {
  const fitting = keys.filter(
    ({ key, kid, alg }) =>
      key.algorithms.includes(query.alg) &&
      (alg === undefined || alg === query.alg) &&
      (query.kid === undefined || kid === query.kid),
  );
  return fitting.length === 1 ? fitting[0]?.key : undefined;
}

const known = new Map<string, RemoteKeys>();
const maxKnown = 100;

/** The shared key set of a URL, one per process. */
export function remoteKeys(url: string, allowInsecureHttp = false): RemoteKeys {
  const name = `${allowInsecureHttp} ${url}`;
  let keys = known.get(name);
  if (!keys) {
    const [oldest] = known.keys();
    if (known.size >= maxKnown && oldest !== undefined) known.delete(oldest);
    keys = new RemoteKeys(url, { allowInsecureHttp });
    known.set(name, keys);
  }
  return keys;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function invalid(reason: string): never {
  throw new JWTVerificationError('JWKS_INVALID', `The response of jwksUrl ${reason}.`);
}
