import type { EntityManager } from '@mikro-orm/postgresql';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { newSecret, type Random } from '../kernel/random.ts';
import { inAllProjects } from '../kernel/scope.ts';
import { digest, isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Vault } from '../keys/vault.ts';
import type { TenantKey } from '../projects/tenant.ts';
import type { Connection, ConnectionKind } from './connection.entity.ts';
import { checkComplete } from './given-settings.ts';
import type {
  PendingUpstream,
  ProviderAnswer,
  ReadAnswer,
  RequestSecrets,
  UpstreamFault,
  UpstreamProtocol,
  WantedSignIn,
} from './upstream.ts';
import { UpstreamRequest, upstreamRequestTtlSeconds, type WaitingPerson } from './upstream-request.entity.ts';

const requestPurpose = 'upstream-request';
const answerPurpose = 'upstream-answer';

/** A request to a provider for one flow of the hosted page. */
export interface NewUpstreamRequest extends WantedSignIn {
  /** The authorization request. */
  requestId: string;
  flow: string;
}

/** Time in which the browser follows the redirect from the ACS. */
const handleSeconds = 300;

/** Requests to upstream providers, and their answers. What the kinds of connections have in common. */
export class UpstreamSignIns {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      random: Random;
      vault: Vault;
      protocols: Readonly<Record<ConnectionKind, UpstreamProtocol>>;
    },
  ) {}

  /** Stores a request; the address of the provider for the browser. A fault if the provider cannot be read. */
  async begin(connection: Connection, wanted: NewUpstreamRequest): Promise<{ url: string } | { fault: UpstreamFault }> {
    const secrets = newSecrets(this.deps.random, wanted.flow);
    const asked = await this.protocolOf(connection).address(connection, secrets, wanted);
    if ('url' in asked) await this.store(connection, wanted.requestId, secrets);
    return asked;
  }

  /** Stores a request for a test by an admin; its state, with which {@link beginTest} continues. Refuses `invalid`. */
  async prepareTest(connection: Connection): Promise<string> {
    checkComplete(connection);
    const secrets = newSecrets(this.deps.random, '');
    await this.store(connection, null, secrets);
    return secrets.state;
  }

  /** The address of the provider for a test. A fault if the provider cannot be read. */
  beginTest(
    { connection, secrets }: PendingUpstream,
    answerUrl: string,
  ): Promise<{ url: string } | { fault: UpstreamFault }> {
    return this.protocolOf(connection).address(connection, secrets, { answerUrl, asksPerson: false });
  }

  /** Verifies an answer. The caller has taken its request. */
  read(pending: PendingUpstream, answer: ProviderAnswer): Promise<ReadAnswer> {
    return this.protocolOf(pending.connection).read(pending, answer);
  }

  private protocolOf({ kind }: Connection): UpstreamProtocol {
    return this.deps.protocols[kind];
  }

  private async store(connection: Connection, requestId: string | null, secrets: RequestSecrets): Promise<void> {
    const { clock, db, random, vault } = this.deps;
    const id = random.id();
    const now = clock.now();
    await db.transaction(async (em) => {
      em.persist(
        em.create(UpstreamRequest, {
          id,
          project: connection.project.id,
          connection: [connection.project.id, connection.id],
          requestId,
          stateHash: digest(secrets.state),
          sealedSecrets: vault.seal(requestPurpose, id, JSON.stringify(secrets)),
          result: null,
          createdAt: now,
          expiresAt: secondsLater(now, upstreamRequestTtlSeconds),
        } as never),
      );
    });
  }

  /** The unexpired request of `state` at this connection, used or not; null: none. The caller checks the browser. */
  find(kind: ConnectionKind | 'any', connectionId: string, state: string): Promise<PendingUpstream | null> {
    return this.found({ stateHash: digest(state) }, kind, connectionId);
  }

  private async found(
    by: { stateHash: string } | { answerHash: string },
    kind: ConnectionKind | 'any',
    connectionId: string,
  ): Promise<PendingUpstream | null> {
    if (!isUuid(connectionId)) return null;
    const { db, clock, vault } = this.deps;
    const where = { ...by, expiresAt: { $gt: clock.now() } };
    const request = await inAllProjects(() =>
      db.reader().findOne(UpstreamRequest, where, { populate: ['connection'] }),
    );
    const connection = request?.connection.getEntity();
    if (!request || connection?.id !== connectionId || (kind !== 'any' && connection.kind !== kind)) return null;
    const opened = vault.open(requestPurpose, request.id, request.sealedSecrets).toString();
    const secrets = JSON.parse(opened) as RequestSecrets;
    return { request, connection, version: connection.version, secrets };
  }

  /**
   * Verifies an answer that a browser delivers without its cookies, and stores the result. Returns a handle for that browser alone: another
   * one, which began the request, must not continue with the account of the person who answered it. Null: the request has an answer.
   */
  async receive(pending: PendingUpstream, answer: ProviderAnswer): Promise<string | null> {
    const { request } = pending;
    if (request.answerHash != null || request.usedAt != null) return null;
    const read = await this.read(pending, answer);
    const handle = newSecret(this.deps.random);
    const kept = await this.keepAnswer(pending, handle, read);
    if (kept !== 'replayed') return kept ? handle : null;
    return (await this.keepAnswer(pending, handle, { fault: 'replayed' })) ? handle : null;
  }

  /** One statement: the first answer to the request wins, and an assertion counts once at its connection. */
  private async keepAnswer(
    { request, version }: PendingUpstream,
    handle: string,
    read: ReadAnswer,
  ): Promise<boolean | 'replayed'> {
    const { clock, db, vault } = this.deps;
    const now = clock.now();
    const assertion = 'person' in read ? read.assertion : undefined;
    const isTest = request.requestId === null;
    const outcome: ReadAnswer = 'person' in read && !isTest ? { person: read.person, claims: {} } : read;
    const sealed = vault.seal(answerPurpose, request.id, JSON.stringify({ at: now.getTime(), version, outcome }));
    const idHash = assertion === undefined ? null : digest(assertion.id);
    const key = sql`project_id = ${request.project.id}::uuid and id = ${request.id}::uuid`;
    const [row] = await query(
      db.alone,
      sql<{ first: boolean; kept: boolean }>`with first as (
          insert into upstream_assertions (project_id, connection_id, id_hash, forget_at)
          select project_id, connection_id, ${idHash}, ${assertion?.until ?? null}::timestamptz from upstream_requests
          where ${key} and ${idHash}::text is not null on conflict do nothing returning 1
        ), kept as (
          update upstream_requests set answer_hash = ${digest(handle)}, sealed_answer = ${sealed}
          where ${key} and answer_hash is null and used_at is null and expires_at > ${now}
            and (${idHash}::text is null or exists (select 1 from first)) returning 1
        ) select exists (select 1 from first) as first, exists (select 1 from kept) as kept`,
    );
    if (row?.kept) return true;
    return idHash !== null && !row?.first ? 'replayed' : false;
  }

  /** The request and the result that {@link receive} stored under a handle; null: none. The caller checks the browser. */
  async received(
    kind: ConnectionKind,
    connectionId: string,
    handle: string,
  ): Promise<{ pending: PendingUpstream; outcome: ReadAnswer } | null> {
    const pending = await this.found({ answerHash: digest(handle) }, kind, connectionId);
    const { sealedAnswer, id } = pending?.request ?? {};
    if (!pending || sealedAnswer == null || id === undefined) return null;
    const opened = this.deps.vault.open(answerPurpose, id, sealedAnswer).toString();
    const { at, outcome, version } = JSON.parse(opened) as { at: number; version: number; outcome: ReadAnswer };
    const isOpen = this.deps.clock.now() <= secondsLater(new Date(at), handleSeconds);
    return isOpen ? { pending: { ...pending, version }, outcome } : null;
  }

  /** Takes the request: true for exactly one caller. */
  async take({ project, id }: TenantKey): Promise<boolean> {
    const now = this.deps.clock.now();
    const statement = sql`update upstream_requests set used_at = ${now}, sealed_answer = null
      where project_id = ${project.id} and id = ${id} and used_at is null and expires_at > ${now}`;
    return (await execute(this.deps.db.alone, statement)) === 1;
  }

  /** Stores the verified response with its request until an account is proved. */
  keep(em: EntityManager, request: UpstreamRequest, person: WaitingPerson): Promise<number> {
    const statement = sql`update upstream_requests set result = ${JSON.stringify(person)}::jsonb
      where project_id = ${request.project.id} and id = ${request.id} and result is null`;
    return execute(em, statement);
  }
}

function newSecrets(random: Random, flow: string): RequestSecrets {
  return { state: newSecret(random), nonce: newSecret(random), verifier: newSecret(random), flow };
}
