import { createPrivateKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import type { Audit } from '../audit/audit.ts';
import { type Actor, system } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { inProject } from '../kernel/scope.ts';
import { query, sql } from '../kernel/sql.ts';
import { selfSigned } from '../saml/security/certificate.ts';
import type { SigningKey } from '../saml/security/sign.ts';
import { SamlKey } from './saml-key.entity.ts';
import type { Vault } from './vault.ts';

const purpose = 'saml-key';
/** Applications compare keys, not dates; some refuse an expired certificate all the same. */
const certificateYears = 10;
/** A successor is in the metadata for this long before it signs, and the former key after that. */
const overlapSeconds = 30 * 24 * 3600;

const newKeyPair = promisify(generateKeyPair);

interface OpenedKey extends SigningKey {
  secret: KeyObject;
}

/** Keys of projects for SAML. The first is created at its first use; a successor only by an admin: applications pin them. */
export class SamlKeys {
  /** Decrypted keys, by id. */
  private readonly opened = new LRUCache<string, OpenedKey>({ max: 500 });

  constructor(private readonly deps: { db: Database; vault: Vault; clock: Clock; random: Random; audit: Audit }) {}

  /** Published keys of a project, the signing one first. Never empty. */
  published(projectId: string): Promise<SamlKey[]> {
    return inProject(projectId, () => this.some(projectId));
  }

  private async some(projectId: string): Promise<SamlKey[]> {
    const keys = await this.read(this.deps.db.reader(), projectId);
    if (keys.length > 0) return keys;
    return this.deps.db.transaction(async (em) => {
      await query(em, sql`select 1 from projects where id = ${projectId}::uuid for no key update`);
      const others = await this.read(em, projectId);
      return others.length > 0 ? others : [await this.create(em, projectId, this.deps.clock.now(), system)];
    });
  }

  /** The key that signs now. */
  async signing(projectId: string): Promise<SigningKey> {
    const [key] = await this.published(projectId);
    if (!key) throw new Error('no SAML key');
    return this.open(key);
  }

  /** The keys of all published certificates: messages may be encrypted to any of them. */
  async decryption(projectId: string): Promise<KeyObject[]> {
    return (await this.published(projectId)).map((key) => this.open(key).secret);
  }

  private open({ certificate, id, sealedPrivateKey }: SamlKey): OpenedKey {
    const known = this.opened.get(id);
    if (known) return known;
    const secret = createPrivateKey(this.deps.vault.open(purpose, id, sealedPrivateKey).toString());
    const opened: OpenedKey = {
      certificate,
      secret,
      sign: (input) =>
        new Promise((resolve, reject) => {
          sign('sha256', input, secret, (error, signature) => (error ? reject(error) : resolve(signature)));
        }),
    };
    this.opened.set(id, opened);
    return opened;
  }

  /**
   * Publishes a successor, which signs after {@link overlapSeconds}; nothing, while there is one already. Without a key, the first,
   * which signs now.
   */
  rotate(projectId: string, actor: Actor): Promise<SamlKey[]> {
    const now = this.deps.clock.now();
    return this.deps.db.transaction(async (em) => {
      await query(em, sql`select 1 from projects where id = ${projectId}::uuid for no key update`);
      const keys = await em.find(SamlKey, { project: projectId });
      const expired = keys.filter(({ publishedUntil: until }) => until && until <= now);
      for (const key of expired) em.remove(key);
      const hasSuccessor = keys.some(({ signsFrom }) => signsFrom > now);
      if (keys.length === expired.length) await this.create(em, projectId, now, actor);
      else if (!hasSuccessor) {
        const signsFrom = secondsLater(now, overlapSeconds);
        for (const key of keys) key.publishedUntil ??= secondsLater(signsFrom, overlapSeconds);
        await this.create(em, projectId, signsFrom, actor);
      }
      await em.flush();
      return this.read(em, projectId);
    });
  }

  private async read(em: EntityManager, projectId: string): Promise<SamlKey[]> {
    const now = this.deps.clock.now();
    const where = { project: projectId, $or: [{ publishedUntil: null }, { publishedUntil: { $gt: now } }] };
    const keys = await em.find(SamlKey, where, { orderBy: { signsFrom: 'desc' } });
    const signs = keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1);
    return signs ? [signs, ...keys.filter((key) => key !== signs)] : [];
  }

  private async create(em: EntityManager, projectId: string, signsFrom: Date, actor: Actor): Promise<SamlKey> {
    const { audit, clock, random, vault } = this.deps;
    const id = random.id();
    const now = clock.now();
    const { privateKey } = await newKeyPair('rsa', { modulusLength: 2048 });
    const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const until = new Date(now);
    until.setUTCFullYear(until.getUTCFullYear() + certificateYears);
    const certificate = selfSigned(pkcs8, { name: `saml ${projectId}`, serial: random.bytes(16), from: now, until });
    const sealedPrivateKey = vault.seal(purpose, id, pkcs8);
    const key = em.create(SamlKey, {
      project: projectId,
      id,
      certificate,
      sealedPrivateKey,
      createdAt: now,
      signsFrom,
    });
    em.persist(key);
    const subject = { kind: 'saml-key', id };
    audit.record(em, {
      type: 'saml-key.published',
      actor,
      projectId,
      subject,
      detail: { signsFrom: signsFrom.toISOString() },
    });
    await em.flush();
    return key;
  }
}
