import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { JWTVerificationError } from './error.ts';
import { OutgoingError, objectIn, send } from './outgoing.ts';
import { algorithmsOf } from './public-key.ts';

const defaultTimeoutMs = 5_000;
const maxBytes = 256 * 1024;
const maxKeys = 100;
/** Refetch after this, so that a withdrawn key is soon dropped. */
const freshMs = 5 * 60_000;
/** Use stale keys this long if a fetch fails, so that a restart of the service breaks no sign-in. */
const staleMs = 60 * 60_000;
/** At most one extra fetch in this time for unknown key IDs. */
const cooldownMs = 30_000;

interface RemoteKey {
  kid: string | undefined;
  alg: string | undefined;
  key: KeyObject;
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
  private fetched: Fetched | undefined;
  private triedAt = Number.NEGATIVE_INFINITY;
  private underway: Promise<Fetched> | undefined;

  constructor(url: string, options: { now?: () => number; timeoutMs?: number } = {}) {
    this.url = url;
    this.now = options.now ?? Date.now;
    this.timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  }

  /** Resolves once keys are loaded. Throws {@link JWTVerificationError}. */
  async ready(): Promise<void> {
    await this.current();
  }

  /** The key for a token's header. Throws {@link JWTVerificationError}. */
  async find(query: KeyQuery): Promise<KeyObject> {
    const found = matching((await this.current()).keys, query);
    if (found) return found;
    if (this.underway || this.now() - this.triedAt >= cooldownMs) {
      const again = matching((await this.fetch()).keys, query);
      if (again) return again;
    }
    throw new JWTVerificationError('UNKNOWN_KEY', 'jwksUrl has no key with the token’s kid.');
  }

  private async current(): Promise<Fetched> {
    const last = this.fetched;
    const age = last ? this.now() - last.at : Number.POSITIVE_INFINITY;
    if (last && age < freshMs) return last;
    if (last && age < staleMs && this.now() - this.triedAt < cooldownMs) return last;
    try {
      return await this.fetch();
    } catch (error) {
      if (last && age < staleMs) return last;
      throw error;
    }
  }

  private fetch(): Promise<Fetched> {
    this.underway ??= this.fetchNow().finally(() => {
      this.underway = undefined;
    });
    return this.underway;
  }

  private async fetchNow(): Promise<Fetched> {
    this.triedAt = this.now();
    const fetched = { keys: keysIn(await this.read()), at: this.now() };
    this.fetched = fetched;
    return fetched;
  }

  private async read(): Promise<Record<string, unknown>> {
    const { timeoutMs } = this;
    const headers = { Accept: 'application/jwk-set+json, application/json' };
    const answer = await send(this.url, { method: 'GET', headers, timeoutMs, maxBytes }).catch((cause: unknown) => {
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
function keysIn({ keys }: Record<string, unknown>): RemoteKey[] {
  if (!Array.isArray(keys)) invalid('has no keys');
  if (keys.length > maxKeys) invalid(`has more than ${maxKeys} keys`);
  return keys.flatMap((jwk: unknown) => {
    if (typeof jwk !== 'object' || jwk === null) return [];
    const { kid, alg, use, d, k, key_ops: operations } = jwk as Record<string, unknown>;
    if (d !== undefined || k !== undefined || (use !== undefined && use !== 'sig')) return [];
    if (Array.isArray(operations) && !operations.includes('verify')) return [];
    try {
      const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
      return [{ kid: text(kid), alg: text(alg), key }];
    } catch {
      return [];
    }
  });
}

/** Matches by key type. Without a `kid`, the match must be unique. */
function matching(keys: RemoteKey[], query: KeyQuery): KeyObject | undefined {
  const fitting = keys.filter(
    ({ key, kid, alg }) =>
      algorithmsOf(key).includes(query.alg) &&
      (alg === undefined || alg === query.alg) &&
      (query.kid === undefined || kid === query.kid),
  );
  return fitting.length === 1 ? fitting[0]?.key : undefined;
}

const known = new Map<string, RemoteKeys>();
const maxKnown = 100;

/** The shared key set of a URL, one per process. */
export function remoteKeys(url: string): RemoteKeys {
  let keys = known.get(url);
  if (!keys) {
    const [oldest] = known.keys();
    if (known.size >= maxKnown && oldest !== undefined) known.delete(oldest);
    keys = new RemoteKeys(url);
    known.set(url, keys);
  }
  return keys;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function invalid(reason: string): never {
  throw new JWTVerificationError('JWKS_INVALID', `The response of jwksUrl ${reason}.`);
}
