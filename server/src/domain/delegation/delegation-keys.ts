import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import { Client } from '../clients/client.entity.ts';
import { DelegationKey, type DelegationParty } from '../clients/delegation-key.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, isPast, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { refuse } from '../kernel/problem.ts';
import { keyObjectFault } from '../kernel/public-keys/public-key.ts';
import type { Random } from '../kernel/random.ts';
import type { Vault } from '../keys/vault.ts';
import { existing, locked, type TenantKey } from '../projects/tenant.ts';
import { parsePublicPem, publicPem, thumbprint } from './key-pem.ts';

/** Default time for which a replaced pair stays valid. */
const defaultOverlapSeconds = 7 * 24 * 3600;
const longestOverlapSeconds = 90 * 24 * 3600;
const maxLivePairs = 5;

/** A client's public halves, as PEM. */
export interface PublicPair {
  signing: string;
  encryption: string;
}

/** One side's pair, loaded. Ours has the private keys. */
export interface LoadedPair {
  signingKid: string;
  encryptionKid: string;
  /** Public for the client's, private for ours. */
  signing: KeyObject;
  encryption: KeyObject;
}

/** A client's current delegation keys, newest first. */
export interface DelegationParties {
  sp: LoadedPair[];
  idp: LoadedPair[];
}

/** Delegation keys: ours for each client, and each client's own. */
export class DelegationKeys {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; vault: Vault; audit: Audit }) {}

  /** All pairs of these clients, newest first, including expired ones; the client is loaded. */
  list(em: EntityManager, clients: readonly TenantKey[]): Promise<DelegationKey[]> {
    const where = { client: { $in: clients.map(({ project, id }): [string, string] => [project.id, id]) } };
    return em.find(DelegationKey, where, { populate: ['client'], orderBy: { id: 'desc' } });
  }

  /**
   * Registers a client's public keys. Previous ones stay valid for the overlap; creates our pair if there is none.
   * Refuses `not-found`, `invalid`, and `taken` if these keys are already registered.
   */
  async register(
    of: TenantKey,
    pair: PublicPair,
    actor: Actor,
    overlapSeconds = defaultOverlapSeconds,
  ): Promise<DelegationKey> {
    const signing = parsePublicPem(pair.signing, 'ed25519', 'signingKey');
    const encryption = parsePublicPem(pair.encryption, 'x25519', 'encryptionKey');
    checkOverlap(overlapSeconds);
    return this.deps.db.transaction(async (em) => {
      const client = await this.locked(em, of);
      const live = await this.live(em, client);
      const kid = thumbprint(encryption);
      if (await em.count(DelegationKey, { client, party: 'sp', encryptionKid: kid })) {
        refuse({ code: 'taken', what: 'delegation-key', field: 'encryptionKey' });
      }
      const key = this.replace(em, client, live, 'sp', { signing, encryption }, overlapSeconds, actor);
      if (!live.some(({ party }) => party === 'idp')) this.makeOurs(em, client, live, overlapSeconds, actor);
      return key;
    });
  }

  /** Creates a new pair of ours; the previous one stays valid for the overlap. Refuses `not-found`, `invalid`. */
  async rotate(of: TenantKey, actor: Actor, overlapSeconds = defaultOverlapSeconds): Promise<DelegationKey> {
    checkOverlap(overlapSeconds);
    return this.deps.db.transaction(async (em) => {
      const client = await this.locked(em, of);
      return this.makeOurs(em, client, await this.live(em, client), overlapSeconds, actor);
    });
  }

  /** Revokes immediately on all processes; idempotent. Refuses `not-found`. */
  async revoke(wanted: TenantKey, actor: Actor): Promise<DelegationKey> {
    return this.deps.db.transaction(async (em) => {
      const key = await existing(em, DelegationKey, wanted, 'delegation-key', locked);
      const client = await key.client.loadOrFail();
      const now = this.deps.clock.now();
      if (key.expiresAt && isPast(key.expiresAt, now)) return key;
      key.expiresAt = now;
      this.record(em, 'delegation-key.revoked', key, client, actor);
      return key;
    });
  }

  /** The currently valid keys, newest first, without those from before release 1.0 that are refused today. */
  async load(em: EntityManager, client: Client): Promise<DelegationParties> {
    const live = await this.live(em, client);
    const of = (party: DelegationParty) => live.filter((key) => key.party === party).map((key) => this.opened(key));
    return { sp: of('sp').filter(isSound), idp: of('idp') };
  }

  private live(em: EntityManager, client: Client): Promise<DelegationKey[]> {
    const now = this.deps.clock.now();
    return em.find(
      DelegationKey,
      { client, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] },
      { orderBy: { id: 'desc' } },
    );
  }

  private opened(key: DelegationKey): LoadedPair {
    const { encryptionKid, encryptionPublicPem, sealedEncryptionKey, sealedSigningKey, signingKid } = key;
    if (!sealedSigningKey || !sealedEncryptionKey) {
      const signing = createPublicKey(key.signingPublicPem);
      return { signingKid, encryptionKid, signing, encryption: createPublicKey(encryptionPublicPem) };
    }
    const read = (part: string, sealed: Uint8Array) =>
      createPrivateKey({ key: this.deps.vault.open(part, key.id, sealed), format: 'der', type: 'pkcs8' });
    return {
      signingKid,
      encryptionKid,
      signing: read(sealedParts.signing, sealedSigningKey),
      encryption: read(sealedParts.encryption, sealedEncryptionKey),
    };
  }

  private makeOurs(
    em: EntityManager,
    client: Client,
    live: DelegationKey[],
    overlapSeconds: number,
    actor: Actor,
  ): DelegationKey {
    const [signing, encryption] = [generateKeyPairSync('ed25519'), generateKeyPairSync('x25519')];
    const publics = { signing: signing.publicKey, encryption: encryption.publicKey };
    const key = this.replace(em, client, live, 'idp', publics, overlapSeconds, actor);
    const seal = (part: string, { privateKey }: { privateKey: KeyObject }) =>
      this.deps.vault.seal(part, key.id, privateKey.export({ format: 'der', type: 'pkcs8' }));
    key.sealedSigningKey = seal(sealedParts.signing, signing);
    key.sealedEncryptionKey = seal(sealedParts.encryption, encryption);
    return key;
  }

  /** Adds a pair; the party's current ones expire after the overlap. */
  private replace(
    em: EntityManager,
    client: Client,
    live: DelegationKey[],
    party: DelegationParty,
    publics: { signing: KeyObject; encryption: KeyObject },
    overlapSeconds: number,
    actor: Actor,
  ): DelegationKey {
    const now = this.deps.clock.now();
    const before = live.filter((key) => key.party === party);
    if (before.length >= maxLivePairs) {
      refuse({
        code: 'invalid',
        field: 'clientId',
        reason: `has ${maxLivePairs} live pairs already: revoke some first`,
      });
    }
    for (const key of before) key.expiresAt ??= secondsLater(now, overlapSeconds);
    const key = em.create(DelegationKey, {
      project: client.project,
      id: this.deps.random.id(),
      client,
      party,
      signingKid: thumbprint(publics.signing),
      encryptionKid: thumbprint(publics.encryption),
      signingPublicPem: publicPem(publics.signing),
      encryptionPublicPem: publicPem(publics.encryption),
      createdAt: now,
    });
    em.persist(key);
    this.record(em, party === 'sp' ? 'delegation-key.registered' : 'delegation-key.generated', key, client, actor);
    return key;
  }

  /** Locks the client: serializes changes of its keys. */
  private async locked(em: EntityManager, of: TenantKey): Promise<Client> {
    return existing(em, Client, of, 'client', locked);
  }

  private record(em: EntityManager, type: EventType, key: DelegationKey, client: Client, actor: Actor): void {
    this.deps.audit.record(em, {
      type,
      actor,
      projectId: client.project.id,
      clientId: client.id,
      subject: { kind: 'delegation-key', id: key.id, name: client.name },
      detail: { party: key.party, signingKid: key.signingKid, encryptionKid: key.encryptionKid },
    });
  }
}

/** Each half is encrypted for its own purpose, so the two cannot be swapped. */
const sealedParts = { signing: 'delegation-signing-key', encryption: 'delegation-encryption-key' };

function checkOverlap(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= longestOverlapSeconds) return;
  refuse({ code: 'invalid', field: 'overlapSeconds', reason: `must be from 0 to ${longestOverlapSeconds}` });
}

function isSound({ signing, encryption }: LoadedPair): boolean {
  return keyObjectFault(signing) === null && keyObjectFault(encryption) === null;
}
