import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { currentClient } from '../clients/client-registry.ts';
import { credentialIdOf } from '../credentials/passkey-values.ts';
import { judgeProof, type ProofKey, type ProofVerdict } from '../credentials/proof.ts';
import { isPast, seconds, secondsLater } from '../kernel/clock.ts';
import { undoneIfRefused } from '../kernel/database.ts';
import { type Problem, refuse } from '../kernel/problem.ts';
import { newSecret } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { LimitRule } from '../limits/limits.ts';
import { networkOf } from '../otp/network.ts';
import { pastDeadlocks } from '../users/deadlock.ts';
import { addressKey } from '../users/login.ts';
import { decidedFor } from './account.ts';
import type { JudgedPage, SigninCaller } from './callers.ts';
import { Ceremony } from './ceremony.entity.ts';
import { Counters } from './counters.ts';
import { accountOf, withPiece } from './evidence.ts';
import {
  type Accepted,
  type Flow,
  type FlowDeps,
  type RefusedStep,
  type StepInput,
  StepRefusal,
  type StepRule,
} from './flow.ts';
import { shortcuts } from './shortcuts/shortcuts.ts';
import { nonceTtlSeconds } from './shortcuts/trusted-sign-in.ts';
import { authenticate } from './steps/authenticate.ts';
import { changePhoneNumber, verifyPhoneNumber } from './steps/change-phone-number.ts';
import { passkeyOptions, registerPasskey, verifyPasskey } from './steps/passkey.ts';
import { initiateMfa, verifyMfa } from './steps/second-factor.ts';
import { type Answers, type CeremonyStep, steps, stepsWithoutAddress } from './steps/steps.ts';
import { verifyDevice } from './steps/verify-device.ts';
import { verifyEmailOtp } from './steps/verify-email-otp.ts';

/** Lifetime of a sign-in. */
const txnTtlSeconds = 10 * 60;

const rules: { [S in CeremonyStep]: StepRule<S> } = {
  authenticate,
  'verify-email-otp': verifyEmailOtp,
  'verify-device': verifyDevice,
  'initiate-mfa': initiateMfa,
  'verify-mfa': verifyMfa,
  'change-phone-number': changePhoneNumber,
  'verify-phone-number': verifyPhoneNumber,
  'passkey-options': passkeyOptions,
  'verify-passkey': verifyPasskey,
  'register-passkey': registerPasskey,
};

interface CeremonyDeps extends FlowDeps {
  /** Sign-ins that one network (IPv6: a /64) may start per minute. */
  challengesPerMinute: number;
  takesShortcuts: boolean;
}

export interface Challenge {
  txn: string;
  nonce: string;
  expiresInSeconds: number;
  /** Server time, Unix seconds: pages correct their clock by it. */
  nowSeconds: number;
}

/** No user has this id: an unknown address costs the same lookup. */
const noUser = '00000000-0000-0000-0000-000000000000';

/**
 * Sign-ins (decisions §8): runs the table in `steps.ts`. Each step is one transaction that locks the ceremony's row, so
 * steps of one sign-in never overlap. Most sign-ins finish in a shortcut instead (`shortcuts/`).
 */
export class Ceremonies {
  private readonly challengesPerNetwork: LimitRule;
  private readonly shortcuts: typeof shortcuts;

  constructor(private readonly deps: CeremonyDeps) {
    this.shortcuts = deps.takesShortcuts ? shortcuts : {};
    this.challengesPerNetwork = { name: 'challenge-network', max: deps.challengesPerMinute, windowSeconds: 60 };
  }

  /**
   * Starts a sign-in. Without `jkt` it cannot register a device, so it never succeeds.
   *
   * @param begun.codeChallenge RFC 7636 S256 challenge that the code of this sign-in will be bound to
   * @param begun.jkt RFC 7638 thumbprint of the page's device key
   * @param ip the caller's address, for the limit per network. Refuses `too-many`
   */
  async challenge(
    page: JudgedPage,
    begun: { codeChallenge?: string | undefined; jkt?: string | undefined },
    ip: string | undefined,
  ): Promise<Challenge> {
    const { db, clock, limits, random, callers } = this.deps;
    const spent = await limits.spendInPassing(db, this.challengesPerNetwork, networkOf(ip));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    const [txn, nonce] = [newSecret(random), newSecret(random)];
    const now = clock.now();
    const begins = async (as: JudgedPage): Promise<boolean> => {
      if (lacksPkce(as, begun.codeChallenge)) return false;
      const inserted = await execute(
        db.alone,
        sql`insert into ceremonies (id, project_id, client_id, request_id, txn_hash, nonce_hash, nonce_expires_at, state,
              origin, jkt, code_challenge, amr, created_at, expires_at)
            select ${random.id()}::uuid, ${as.project.id}::uuid, ${as.client.id}::uuid, ${as.request?.id ?? null}::uuid,
              ${digest(txn)}, ${digest(nonce)}, ${secondsLater(now, nonceTtlSeconds)}::timestamptz, 'challenged',
              ${as.origin}, ${begun.jkt ?? null}, ${begun.codeChallenge ?? null}, '{}', ${now}::timestamptz,
              ${secondsLater(now, txnTtlSeconds)}::timestamptz
            where ${as.key ? sql`exists (${currentClient(as)})` : sql`true`}`,
        { prepare: 'ceremonies.challenge' },
      );
      return inserted === 1;
    };
    if (!(await begins(page))) {
      const current = await callers.current(page);
      if (lacksPkce(current, begun.codeChallenge)) refuse({ code: 'pkce-required' });
      if (!(await begins(current))) refuse({ code: 'unauthenticated' });
    }
    return { txn, nonce, expiresInSeconds: txnTtlSeconds, nowSeconds: seconds(now) };
  }

  /** Takes one step. Throws {@link StepRefusal}, with the next nonce if the sign-in can continue. */
  async take<S extends CeremonyStep>(
    step: S,
    caller: SigninCaller,
    input: StepInput,
  ): Promise<Answers[S] & { nonce: string }> {
    const answer = await this.attempt(step, caller, input);
    if (answer) return answer;
    const current = { ...caller, ...(await this.deps.callers.current(caller)) };
    return (await this.attempt(step, current, input)) ?? refuse({ code: 'unauthenticated' });
  }

  /** Null, with nothing written, if the cached page is stale. */
  private async attempt<S extends CeremonyStep>(step: S, caller: SigninCaller, input: StepInput) {
    const { db, random } = this.deps;
    const nonce = newSecret(random);
    const short = caller.key !== undefined && (await this.shortcuts[step]?.(this.deps, caller, input, nonce));
    if (short) return { ...short, nonce };
    const outcome = await pastDeadlocks(() =>
      db.transaction(async (em) => ((await holds(em, caller)) ? this.decide(em, step, caller, input, nonce) : null)),
    );
    if (!outcome) return null;
    if (!('refused' in outcome)) return { ...outcome.answer, nonce };
    const goesOn = outcome.refused.code !== 'transaction-expired';
    throw new StepRefusal(await this.completed(outcome.refused, input), step, goesOn ? nonce : undefined);
  }

  /** Adds what a transaction, which sees one project, cannot know: whether any project has this passkey. */
  private async completed(problem: Problem, { credential }: StepInput): Promise<Problem> {
    if (problem.code !== 'passkey-rejected' || problem.reason !== 'unknown') return problem;
    return { ...problem, unknown: await this.deps.passkeys.isUnknown(this.deps.db, credentialIdOf(credential)) };
  }

  /**
   * One step in three parts: admission, which consumes the nonce; the count of the attempt; and the step itself, which
   * is rolled back if it refuses. So a refusal changes only counters and the nonce.
   */
  private async decide<S extends CeremonyStep>(
    em: EntityManager,
    step: S,
    caller: SigninCaller,
    input: StepInput,
    nonce: string,
  ): Promise<Accepted<S> | RefusedStep> {
    const provesNothing = step === 'authenticate' && input.proof === undefined;
    if (!provesNothing) await lockUserOf(em, caller.project.id, input);
    const ceremony = await this.open(em, caller, input.txn);
    if (!ceremony) return { refused: { code: 'transaction-expired' } };
    const flow: Flow = {
      em,
      deps: this.deps,
      caller,
      ceremony,
      input,
      device: null,
      publicJwk: null,
      counted: null,
      challenge: null,
    };
    const admitted = await this.admit(flow, step, nonce);
    ceremony.nonceHash = digest(nonce);
    ceremony.nonceExpiresAt = secondsLater(this.deps.clock.now(), nonceTtlSeconds);
    const rule: StepRule<S> = rules[step];
    const outcome =
      admitted ?? (await this.count(flow, rule)) ?? (await undoneIfRefused(em, () => run(flow, step, rule)));
    if ('refused' in outcome) await this.note(flow, outcome);
    return outcome;
  }

  private async count<S extends CeremonyStep>(flow: Flow, rule: StepRule<S>): Promise<RefusedStep | null> {
    if (!rule.count) return null;
    const counted = await rule.count(new Counters(flow.em, flow.ceremony, this.deps), flow);
    if ('refused' in counted) return counted;
    flow.counted = counted.counted;
    flow.challenge = counted.challenge ?? null;
    return null;
  }

  /** Writes the counters and the audit event of a refusal. */
  private async note({ em, caller, deps }: Flow, { counts = [], event }: RefusedStep): Promise<void> {
    for (const count of counts) {
      if ('sms' in count) await deps.smsGuard.spend(em, count.sms);
      else await deps.limits.spend(em, count.rule, count.subject);
    }
    if (!event) return;
    const { actor, client, project } = caller;
    const fault = String(event.detail?.['fault'] ?? 'wrong');
    await deps.audit.recordRepeated(em, { ...event, actor, projectId: project.id, clientId: client.id }, fault);
  }

  /** Locks the ceremony; null if it belongs to another page, has ended or has expired. */
  private async open(em: EntityManager, caller: SigninCaller, txn: string): Promise<Ceremony | null> {
    const ceremony = await em.findOne(
      Ceremony,
      { project: caller.project.id, txnHash: digest(txn), client: { id: caller.client.id } },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!ceremony || ceremony.finishedAt || isPast(ceremony.expiresAt, this.deps.clock.now())) return null;
    const samePage =
      ceremony.origin === caller.origin && (ceremony.request?.id ?? null) === (caller.request?.id ?? null);
    return samePage ? ceremony : null;
  }

  /** Checks the step's state, proof and user; null: admitted. */
  private async admit(flow: Flow, step: CeremonyStep, nextNonce: string): Promise<RefusedStep | null> {
    const { caller, ceremony, input } = flow;
    const { from, proof } = steps[step];
    const stateAllows = from.includes(ceremony.state);
    const outOfOrder: RefusedStep = { refused: { code: 'out-of-order', step, state: ceremony.state } };
    if (proof !== 'none' && proof !== 'passkey' && input.proof !== undefined) {
      const refused = await this.prove(flow, step, input.proof, stateAllows, nextNonce);
      if (refused) return refused === 'state' ? outOfOrder : refused;
    } else {
      if (!stateAllows) return outOfOrder;
      if (proof === 'use' || proof === 'registration') return { refused: { code: 'proof-required' } };
    }
    const isNamed = step !== 'authenticate' && !stepsWithoutAddress.includes(step);
    if (isNamed && addressKey(input.userid ?? '') !== ceremony.address) {
      const reason = 'is not the one that this sign-in was begun for';
      return { refused: { code: 'invalid', field: 'userid', reason } };
    }
    return lacksPkce(caller, ceremony.codeChallenge) ? { refused: { code: 'pkce-required' } } : null;
  }

  private async prove(
    flow: Flow,
    step: CeremonyStep,
    proof: string,
    stateAllows: boolean,
    nextNonce: string,
  ): Promise<RefusedStep | 'state' | null> {
    const { em, deps, caller, ceremony, input } = flow;
    const verdict = await judgeProof(proof, {
      key: await this.keyOf(flow, step),
      act: step,
      issuer: deps.issuer,
      projectId: caller.project.id,
      clientId: caller.client.id,
      origin: caller.origin,
      originAllowed: true,
      txn: input.txn,
      stateAllows,
      codeChallenge: ceremony.codeChallenge ?? null,
      jkt: ceremony.jkt ?? null,
      body: input.body,
      consumeNonce: (nonce) => this.consume(em, ceremony, nonce, nextNonce),
      nowSeconds: seconds(deps.clock.now()),
    });
    if (!verdict.valid) return rejection(step, verdict);
    flow.publicJwk = verdict.publicJwk ?? null;
    // A revoked key counts as unknown until the mail code is entered; `Devices.register` then refuses it.
    if (flow.device?.revokedAt) flow.device = null;
    // Only `authenticate` works without a registered key; the other steps need the one that this sign-in has proved.
    const isProved = ceremony.evidence.some((piece) => piece.kind === 'device-key' && piece.device === flow.device?.id);
    if (steps[step].proof === 'use' && !isProved) return { refused: { code: 'proof-rejected', reason: 'device' } };
    return null;
  }

  /** The key that must have signed the proof; sets `flow.device`. */
  private async keyOf(flow: Flow, step: CeremonyStep): Promise<ProofKey> {
    if (steps[step].proof === 'registration') return { kind: 'registration' };
    const { em, deps, caller, ceremony, input } = flow;
    const userId =
      step === 'authenticate'
        ? (await decidedFor(em, caller.project.id, addressKey(input.userid ?? ''))).account
        : accountOf(ceremony.evidence);
    flow.device = await deps.devices.find(
      em,
      { client: caller.client, isHosted: caller.request !== null },
      ceremony.jkt ?? '',
      userId ?? noUser,
    );
    if (!flow.device) return { kind: 'unknown' };
    const { jkt, publicJwk, alg } = flow.device;
    return { kind: 'stored', jkt, jwk: publicJwk, alg };
  }

  private async consume(em: EntityManager, { project, id }: Ceremony, nonce: string, next: string): Promise<boolean> {
    const now = this.deps.clock.now();
    const consumed = await execute(
      em,
      sql`update ceremonies set nonce_hash = ${digest(next)}, nonce_expires_at = ${secondsLater(now, nonceTtlSeconds)}
          where project_id = ${project.id} and id = ${id} and nonce_hash = ${digest(nonce)} and nonce_expires_at > ${now}`,
      { prepare: 'ceremonies.consume-nonce' },
    );
    return consumed === 1;
  }
}

/** Takes the step; if accepted, updates the ceremony's state by the table and appends the evidence. */
async function run<S extends CeremonyStep>(flow: Flow, step: S, rule: StepRule<S>): Promise<Accepted<S> | RefusedStep> {
  const { ceremony } = flow;
  const outcome = await rule.take(flow);
  if ('refused' in outcome) return outcome;
  if (outcome.proved) ceremony.evidence = withPiece(ceremony.evidence, outcome.proved);
  const leadsTo: Record<string, Ceremony['state'] | 'stays'> = steps[step].leadsTo;
  const next = leadsTo[outcome.answer.status];
  if (next !== undefined && next !== 'stays') {
    ceremony.state = next === 'finished' && !ceremony.finishedAt ? 'stepped_up' : next;
  }
  return outcome;
}

async function holds(em: EntityManager, page: JudgedPage): Promise<boolean> {
  if (page.key === undefined) return true;
  return (await query(em, currentClient(page), { prepare: 'ceremonies.page-holds' })).length === 1;
}

/** True for an application's page without a code_challenge whose client requires PKCE. */
function lacksPkce({ client, request }: JudgedPage, codeChallenge: string | null | undefined): boolean {
  return client.pkceRequired && !request && codeChallenge == null;
}

function rejection(step: CeremonyStep, { fault }: Extract<ProofVerdict, { valid: false }>): RefusedStep | 'state' {
  if (fault === 'state') return 'state';
  if (fault === 'nonce') return { refused: { code: 'nonce-rejected' } };
  return {
    refused: { code: 'proof-rejected', reason: fault },
    event: { type: 'device.proof_rejected', detail: { step, fault } },
  };
}

/**
 * Locks the user before the ceremony, in the order of `endOpenWork`. A step concurrent with a revocation therefore
 * either commits first and is ended by it, or runs later and sees it. The user is found by the evidence, the page's key
 * and the passkey, never by the address: a request for another user's address must neither block that user nor take
 * longer.
 */
async function lockUserOf(em: EntityManager, projectId: string, { txn, credential }: StepInput): Promise<void> {
  const credentialId = credentialIdOf(credential);
  await query(
    em,
    sql`select from users where project_id = ${projectId} and id = any(array(
          select account_id from ceremonies where project_id = ${projectId} and txn_hash = ${digest(txn)}
          union all select d.user_id
            from ceremonies c join credentials d on d.project_id = c.project_id and d.jkt = c.jkt
              and (d.client_id = c.client_id or d.hosted)
            where c.project_id = ${projectId} and c.txn_hash = ${digest(txn)}
          union all select user_id from credentials where project_id = ${projectId} and credential_id = ${credentialId}))
        order by id for no key update`,
    { prepare: 'ceremonies.lock-user' },
  );
}
