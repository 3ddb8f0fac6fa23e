import { createPrivateKey, sign } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  type JWK,
} from 'jose';
import type { Audit } from '../audit/audit.ts';
import { type Actor, system } from '../kernel/actor.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { query, sql } from '../kernel/sql.ts';
import { currentKey, nextKey, type Schedule, succession } from './schedule.ts';
import { type SigningAlgorithm, SigningKey, signingAlgorithms, standingAlgorithms } from './signing-key.entity.ts';
import { type Vault, VaultError } from './vault.ts';

/** One published key, for verifying, and for signing while it may sign. */
export interface LoadedKey {
  kid: string;
  alg: SigningAlgorithm;
  publicJwk: JWK;
  verifyKey: CryptoKey;
  /** Signs the bytes (RFC 7518 §3); slow algorithms run off the event loop. The private key is not accessible. */
  sign(input: Uint8Array): Promise<Uint8Array>;
  signsFrom: Date;
  signsUntil: Date | null;
  publishedUntil: Date | null;
}

/** Maximum difference between the clocks of processes. */
export const skewSeconds = 5;
/** Cache lifetime; an emergency withdrawal reaches all processes within this time. */
const cacheSeconds = 5;
/** Maximum wait for a refresh before the cached keys are used. */
const maxWaitMs = 250;
/** Key of the advisory lock: one process at a time changes keys. */
const keysLock = 7_316_904_552;

interface KeysDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
  audit: Audit;
  schedule: Schedule;
  /** Called if the instance had no signing key of an algorithm that it always needs, and got one. */
  onRepair?: ((algorithms: readonly SigningAlgorithm[]) => void) | undefined;
}

/**
 * The keys of this instance: one active ES512 (ID and logout tokens), one active EdDSA (access tokens), and one of each
 * other algorithm that a client at its project's issuer has asked for. The next is published at least 24 h before it
 * signs, the old one stays until its last token has expired plus 24 h.
 */
export class Keys {
  private cache: { readAt: Date; keys: Promise<LoadedKey[]> } | undefined;
  private lastRead: LoadedKey[] | undefined;
  private lookedUpAt = new Date(0);
  private jwksCache: { of: LoadedKey[]; jwks: { keys: JWK[] } } | undefined;
  /** Decrypted keys by id, since rows are read again and again. */
  private readonly opened = new Map<string, { sealed: Uint8Array; halves: Pick<LoadedKey, 'verifyKey' | 'sign'> }>();

  constructor(private readonly deps: KeysDeps) {}

  /**
   * Every published key, the signing ones included. While the database is unreachable, the cached keys. Throws
   * `VaultError`.
   */
  published(): Promise<LoadedKey[]> {
    const now = this.deps.clock.now();
    if (!this.cache || isStale(this.cache.readAt, now)) {
      const keys = this.read(now).catch((error: unknown) => {
        this.cache = undefined;
        if (this.lastRead && !(error instanceof VaultError)) return this.lastRead;
        throw error;
      });
      this.cache = { readAt: now, keys: this.soonOrLast(keys) };
    }
    return this.cache.keys;
  }

  /**
   * The published key of a token. One that is not cached may be new, since another process creates the first key of an
   * algorithm when it needs it: the keys are read again, at most once in five seconds.
   */
  async find(kid: unknown): Promise<LoadedKey | undefined> {
    const cached = (await this.published()).find((key) => key.kid === kid);
    const now = this.deps.clock.now();
    if (cached || !isStale(this.lookedUpAt, now)) return cached;
    this.lookedUpAt = now;
    this.cache = undefined;
    return (await this.published()).find((key) => key.kid === kid);
  }

  /** The keys of the read in progress; if it takes too long, the cached ones. */
  private async soonOrLast(keys: Promise<LoadedKey[]>): Promise<LoadedKey[]> {
    const { lastRead } = this;
    if (!lastRead) return keys;
    const timer = new AbortController();
    const late = pause(maxWaitMs, lastRead, { signal: timer.signal, ref: false });
    late.catch(() => undefined);
    return Promise.race([keys, late]).finally(() => timer.abort());
  }

  /** The current signing key; the first of an algorithm is created on its first use. */
  async signing(alg: SigningAlgorithm): Promise<LoadedKey> {
    await this.have([alg]);
    const key = currentKey(await this.published(), alg, this.deps.clock.now());
    return key ?? refuse({ code: 'unavailable', reason: `no ${alg} signing key`, retryAfterSeconds: 5 });
  }

  /** The base issuer's JWK Set (RFC 7517 §5): public members only. The same object until the published keys change. */
  async jwks(): Promise<{ keys: JWK[] }> {
    const keys = await this.published();
    if (this.jwksCache?.of !== keys) this.jwksCache = { of: keys, jwks: publicSet(keys, standingAlgorithms) };
    return this.jwksCache.jwks;
  }

  /** The JWK Set of some algorithms: a key type that a client does not support may make it reject the whole set. */
  async jwksOf(algorithms: readonly SigningAlgorithm[]): Promise<{ keys: JWK[] }> {
    await this.have(algorithms);
    return publicSet(await this.published(), algorithms);
  }

  /** The reason why this instance cannot sign its tokens; null if it can. Not repaired here. */
  async fault(): Promise<string | null> {
    const [lacking] = this.lacking(await this.published(), standingAlgorithms);
    return lacking === undefined ? null : `no ${lacking} signing key`;
  }

  /**
   * Creates a signing key for each algorithm that has none: the first key of one that clients ask for, and a key for
   * one whose keys start later, because they were created while the database's clock was ahead.
   */
  async have(algorithms: readonly SigningAlgorithm[] = standingAlgorithms): Promise<void> {
    if (this.lacking(await this.published(), algorithms).length === 0) return;
    await this.exclusively(async (em, keys) => {
      const lacking = this.lacking(keys, algorithms);
      for (const alg of lacking) await this.keepSigning(em, keys, alg, system);
      const standing = lacking.filter(isStanding);
      if (standing.length > 0) this.deps.onRepair?.(standing);
    });
  }

  private lacking(keys: readonly (LoadedKey | SigningKey)[], algorithms: readonly SigningAlgorithm[]) {
    return algorithms.filter((alg) => !currentKey(keys, alg, this.deps.clock.now()));
  }

  /** Creates the first keys, publishes successors when due, deletes expired keys. Safe to run in every process. */
  async maintain(): Promise<void> {
    await this.exclusively(async (em, keys) => {
      const now = this.deps.clock.now();
      for (const alg of inUse(keys)) {
        await this.keepSigning(em, keys, alg, system);
        const at = succession(keys, alg, now, this.deps.schedule);
        if (at) await this.create(em, keys, alg, at, system);
      }
      for (const key of keys) if (key.publishedUntil && isPast(key.publishedUntil, now)) em.remove(key);
    });
  }

  /** Publishes a successor for every algorithm now; it signs once the caches of relying parties have expired. */
  async rotate(actor: Actor): Promise<void> {
    await this.exclusively(async (em, keys) => {
      const now = this.deps.clock.now();
      for (const alg of inUse(keys)) {
        if (nextKey(keys, alg, now)) continue;
        await this.create(em, keys, alg, secondsLater(now, this.deps.schedule.noticeSeconds), actor);
      }
    });
  }

  /** Emergency: the key stops signing and verifying now. If it was the signing one, a successor signs immediately. */
  async withdraw(kid: string, actor: Actor): Promise<void> {
    await this.exclusively(async (em, keys) => {
      const now = this.deps.clock.now();
      const key = keys.find((one) => one.id === kid && !one.withdrawnAt);
      if (!key) refuse({ code: 'not-found', what: 'signing-key' });
      key.withdrawnAt = now;
      key.signsUntil = now;
      key.publishedUntil = now;
      await this.keepSigning(em, keys, key.alg, actor);
      this.deps.audit.record(em, { type: 'signing-key.withdrawn', actor, subject: { kind: 'signing-key', id: kid } });
    });
  }

  /**
   * Emergency, if it is not known which key leaked: every key, also future and retired ones, stops signing and
   * verifying now, and new ones sign immediately. Returns the withdrawn keys' ids.
   */
  async withdrawAll(actor: Actor): Promise<string[]> {
    const withdrawn: string[] = [];
    await this.exclusively(async (em, keys) => {
      const now = this.deps.clock.now();
      const live = keys.filter((key) => !key.withdrawnAt);
      for (const key of live) {
        key.withdrawnAt = now;
        key.signsUntil = now;
        key.publishedUntil = now;
        this.deps.audit.record(em, {
          type: 'signing-key.withdrawn',
          actor,
          subject: { kind: 'signing-key', id: key.id },
        });
      }
      for (const alg of inUse(keys)) await this.create(em, keys, alg, this.atOnce(), actor);
      withdrawn.push(...live.map(({ id }) => id));
    });
    return withdrawn;
  }

  /** All keys, newest first, withdrawn ones included, without private parts. */
  async list(): Promise<SigningKey[]> {
    return this.deps.db
      .reader()
      .find(SigningKey, {}, { orderBy: { signsFrom: 'desc' }, exclude: ['sealedPrivateKey'] }) as Promise<SigningKey[]>;
  }

  private async exclusively(work: (em: EntityManager, keys: SigningKey[]) => Promise<void>): Promise<void> {
    await this.deps.db.transaction(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock(${keysLock})`);
      await work(em, await em.find(SigningKey, {}));
    });
    this.cache = undefined;
  }

  /** Start time of a key that must sign now, also in processes whose clock is behind. */
  private atOnce(): Date {
    return secondsLater(this.deps.clock.now(), -skewSeconds);
  }

  /** Without a successor, the current key continues to sign. If none may sign, a successor signs immediately. */
  private async keepSigning(em: EntityManager, keys: SigningKey[], alg: SigningAlgorithm, actor: Actor): Promise<void> {
    const now = this.deps.clock.now();
    const [current, next] = [currentKey(keys, alg, now), nextKey(keys, alg, now)];
    const maySign = current && !(current.signsUntil && isPast(current.signsUntil, now));
    if (!maySign && next) next.signsFrom = this.atOnce();
    else if (!maySign) await this.create(em, keys, alg, this.atOnce(), actor);
    else if (!next) {
      current.signsUntil = null;
      current.publishedUntil = null;
    }
  }

  /** Throws `VaultError` if existing keys were sealed under another master key: no server could open the new one. */
  private async create(em: EntityManager, keys: SigningKey[], alg: SigningAlgorithm, signsFrom: Date, actor: Actor) {
    const [known] = keys;
    if (known) this.deps.vault.open('signing-key', known.id, known.sealedPrivateKey);
    const pair = await generateKeyPair(alg, { extractable: true });
    const jwk = await exportJWK(pair.publicKey);
    const kid = await calculateJwkThumbprint(jwk);
    const predecessor = currentKey(keys, alg, this.deps.clock.now());
    if (predecessor) {
      predecessor.signsUntil = signsFrom;
      predecessor.publishedUntil = secondsLater(
        signsFrom,
        this.deps.schedule.longestTokenSeconds + this.deps.schedule.noticeSeconds,
      );
    }
    const key = em.create(SigningKey, {
      id: kid,
      alg,
      publicJwk: { ...jwk, kid, alg, use: 'sig' },
      sealedPrivateKey: this.deps.vault.seal('signing-key', kid, await exportPKCS8(pair.privateKey)),
      createdAt: this.deps.clock.now(),
      signsFrom,
    });
    em.persist(key);
    keys.push(key);
    this.deps.audit.record(em, {
      type: 'signing-key.published',
      actor,
      subject: { kind: 'signing-key', id: kid },
      detail: { alg, signsFrom: signsFrom.toISOString() },
    });
  }

  private async read(now: Date): Promise<LoadedKey[]> {
    const keys = await this.deps.db
      .reader()
      .find(
        SigningKey,
        { withdrawnAt: null, $or: [{ publishedUntil: null }, { publishedUntil: { $gt: now } }] },
        { orderBy: { signsFrom: 'desc' } },
      );
    const loaded = await Promise.all(
      keys.map(async (key) => ({
        kid: key.id,
        alg: key.alg,
        publicJwk: key.publicJwk,
        ...(await this.halvesOf(key)),
        signsFrom: key.signsFrom,
        signsUntil: key.signsUntil ?? null,
        publishedUntil: key.publishedUntil ?? null,
      })),
    );
    this.lastRead = loaded;
    return loaded;
  }

  private async halvesOf({ id, alg, publicJwk, sealedPrivateKey: sealed }: SigningKey) {
    const known = this.opened.get(id);
    if (known && Buffer.compare(known.sealed, sealed) === 0) return known.halves;
    const halves = {
      verifyKey: (await importJWK(publicJwk, alg)) as CryptoKey,
      sign: signerOf(alg, this.deps.vault.open('signing-key', id, sealed).toString()),
    };
    this.opened.set(id, { sealed, halves });
    return halves;
  }
}

/** Also true for a time in the future: the clock was ahead. */
const isStale = (at: Date, now: Date) => isPast(secondsLater(at, cacheSeconds), now) || at > now;

const isStanding = (alg: SigningAlgorithm) => standingAlgorithms.some((one) => one === alg);

/** Algorithms that have keys, or always need one. */
function inUse(keys: readonly SigningKey[]): SigningAlgorithm[] {
  return signingAlgorithms.filter((alg) => isStanding(alg) || keys.some((key) => key.alg === alg));
}

function publicSet(keys: readonly LoadedKey[], algorithms: readonly SigningAlgorithm[]): { keys: JWK[] } {
  return { keys: keys.filter(({ alg }) => algorithms.includes(alg)).map((key) => key.publicJwk) };
}

/** Hash and encoding of a signature (RFC 7518 §3.3, §3.4); EdDSA has neither. */
const signatures = {
  ES512: ['sha512', 'ieee-p1363'],
  ES256: ['sha256', 'ieee-p1363'],
  RS256: ['sha256', 'der'],
} as const;

/**
 * ES512 takes over a millisecond and runs on libuv's threads; EdDSA takes less than a thread switch. Uses
 * `node:crypto`, since WebCrypto costs a third more (decisions/0081).
 */
function signerOf(alg: SigningAlgorithm, pkcs8: string): LoadedKey['sign'] {
  const key = createPrivateKey(pkcs8);
  if (alg === 'EdDSA') return async (input) => sign(null, input, key);
  const [hash, dsaEncoding] = signatures[alg];
  return (input) =>
    new Promise((resolve, reject) => {
      sign(hash, input, { key, dsaEncoding }, (error, signature) => (error ? reject(error) : resolve(signature)));
    });
}
