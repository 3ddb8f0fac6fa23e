import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { judgeProof, type ProofKey, type ProofVerdict } from '../devices/proof.ts';
import { isPast, seconds, secondsLater } from '../kernel/clock.ts';
import { changed, rows } from '../kernel/database.ts';
import { type Problem, refuse } from '../kernel/problem.ts';
import { newSecret } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import type { LimitRule } from '../limits/limits.ts';
import { networkOf } from '../otp/network.ts';
import { pastDeadlocks } from '../users/deadlock.ts';
import { addressKey } from '../users/login.ts';
import { accountOf } from './account.ts';
import { authenticate } from './authenticate.ts';
import { type Caller, type Page, stillHolds, stillHoldsParameters } from './callers.ts';
import { Ceremony } from './ceremony.entity.ts';
import { changePhoneNumber, verifyPhoneNumber } from './change-phone-number.ts';
import { type Flow, type FlowDeps, type Outcome, type StepInput, StepRefusal } from './flow.ts';
import { initiateMfa, verifyMfa } from './second-factor.ts';
import { type Answers, type Step, steps } from './steps.ts';
import { nonceTtlSeconds, trustedSignIn } from './trusted-sign-in.ts';
import { verifyDevice } from './verify-device.ts';
import { verifyEmailOtp } from './verify-email-otp.ts';

/** How long one sign-in may take. */
export const txnTtlSeconds = 10 * 60;

const implementations: { [S in Step]: (flow: Flow) => Promise<Outcome<S>> } = {
  authenticate,
  'verify-email-otp': verifyEmailOtp,
  'verify-device': verifyDevice,
  'initiate-mfa': initiateMfa,
  'verify-mfa': verifyMfa,
  'change-phone-number': changePhoneNumber,
  'verify-phone-number': verifyPhoneNumber,
};

/** Steps that a remembered page may take by statements alone, where all that they ask for is there. */
const shortcuts: { [S in Step]?: (...step: [FlowDeps, Caller, StepInput, string]) => Promise<Answers[S] | null> } = {
  authenticate: trustedSignIn,
};

export interface Challenge {
  txn: string;
  nonce: string;
  expiresInSeconds: number;
  /** When it was made: a page whose own clock is wrong tells the time by it. */
  nowSeconds: number;
}

/** No user has this id: what is asked for it costs as much as for any other. */
const nobody = '00000000-0000-0000-0000-000000000000';

const challenging = `insert into ceremonies (id, project_id, client_id, request_id, txn_hash, nonce_hash, nonce_expires_at,
    state, origin, jkt, code_challenge, amr, created_at, expires_at)
  select ?::uuid, ?::uuid, ?::uuid, ?::uuid, ?, ?, ?::timestamptz, 'challenged', ?, ?, ?, '{}', ?::timestamptz, ?::timestamptz`;
const challengingRemembered = `${challenging} where ${stillHolds}`;

/**
 * Sign-ins (decisions §8): runs the table of `steps.ts`. Each step is one transaction that holds the ceremony's row:
 * steps of one sign-in never overlap. What a step decides is committed, refusals too, and only then told. Most sign-ins
 * end without one, see `trusted-sign-in.ts`.
 */
export class Ceremonies {
  private readonly deps: FlowDeps;
  private readonly challengesPerNetwork: LimitRule;

  /** @param challengesPerMinute sign-ins that one network (a /64 of IPv6) may begin */
  constructor(deps: FlowDeps, challengesPerMinute: number) {
    this.deps = deps;
    this.challengesPerNetwork = { name: 'challenge-network', max: challengesPerMinute, windowSeconds: 60 };
  }

  /**
   * Begins a sign-in. Without `jkt` it can register no device, and so never ends well.
   *
   * @param begun.codeChallenge RFC 7636 S256 challenge that the code of this sign-in is to be bound to
   * @param begun.jkt RFC 7638 thumbprint of the page's device key
   * @param ip the caller's address: one network can begin no more than so many sign-ins in a minute. Refuses `too-many`
   */
  async challenge(
    page: Page,
    begun: { codeChallenge?: string | undefined; jkt?: string | undefined },
    ip: string | undefined,
  ): Promise<Challenge> {
    const { db, clock, limits, random } = this.deps;
    const spent = await limits.spendInPassing(db, this.challengesPerNetwork, networkOf(ip));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
    const [txn, nonce] = [newSecret(random), newSecret(random)];
    const now = clock.now();
    const values = [
      random.id(),
      page.project.id,
      page.client.id,
      page.request?.id ?? null,
      digest(txn),
      digest(nonce),
      secondsLater(now, nonceTtlSeconds),
      page.origin,
      begun.jkt ?? null,
      begun.codeChallenge ?? null,
      now,
      secondsLater(now, txnTtlSeconds),
    ];
    const { remembered } = page;
    const guarded = remembered && [...values, ...stillHoldsParameters(page, remembered)];
    if (!guarded || (await db.changed(challengingRemembered, guarded)) === 0) {
      await remembered?.judgeAnew();
      await db.changed(challenging, values);
    }
    return { txn, nonce, expiresInSeconds: txnTtlSeconds, nowSeconds: seconds(now) };
  }

  /** Takes one step. Refuses with {@link StepRefusal}, which carries the next nonce where the sign-in goes on. */
  async take<S extends Step>(step: S, caller: Caller, input: StepInput): Promise<Answers[S] & { nonce: string }> {
    const nonce = newSecret(this.deps.random);
    if (caller.remembered) {
      const answer = await shortcuts[step]?.(this.deps, caller, input, nonce);
      if (answer) return { ...answer, nonce };
      const page = await caller.remembered.judgeAnew();
      return this.take(step, { ...caller, ...page, remembered: undefined }, input);
    }
    const outcome = await pastDeadlocks(() =>
      this.deps.db.transaction((em) => this.decide(em, step, caller, input, nonce)),
    );
    if (!('refused' in outcome)) return { ...outcome, nonce };
    const goesOn = outcome.refused.code !== 'transaction-expired';
    throw new StepRefusal(outcome.refused, step, goesOn ? nonce : undefined);
  }

  private async decide<S extends Step>(
    em: EntityManager,
    step: S,
    caller: Caller,
    input: StepInput,
    nonce: string,
  ): Promise<Outcome<S>> {
    const hasUser = steps[step].proof === 'registration' || steps[step].proof === 'use';
    if (hasUser) await lockUserOf(em, input.txn);
    const ceremony = await this.open(em, caller, input.txn);
    if (!ceremony) return { refused: { code: 'transaction-expired' } };
    const flow: Flow = { em, deps: this.deps, caller, ceremony, input, device: null, publicJwk: null };
    const refused = await this.admit(flow, step, nonce);
    ceremony.nonceHash = digest(nonce);
    ceremony.nonceExpiresAt = secondsLater(this.deps.clock.now(), nonceTtlSeconds);
    if (refused) return { refused };
    const outcome = await implementations[step](flow);
    if ('refused' in outcome) return outcome;
    const next = (steps[step].leadsTo as Record<string, Ceremony['state'] | 'stays'>)[outcome.status];
    if (next !== undefined && next !== 'stays') {
      ceremony.state = next === 'finished' && !ceremony.finishedAt ? 'stepped_up' : next;
    }
    return outcome;
  }

  /** The ceremony under a lock; null where it is not this page's, has ended, or its time is over. */
  private async open(em: EntityManager, caller: Caller, txn: string): Promise<Ceremony | null> {
    const ceremony = await em.findOne(
      Ceremony,
      { txnHash: digest(txn), project: caller.project.id, client: caller.client.id },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!ceremony || ceremony.finishedAt || isPast(ceremony.expiresAt, this.deps.clock.now())) return null;
    const samePage =
      ceremony.origin === caller.origin && (ceremony.request?.id ?? null) === (caller.request?.id ?? null);
    return samePage ? ceremony : null;
  }

  /** Judges the step's order, its proof and its user; null: go on. */
  private async admit(flow: Flow, step: Step, nextNonce: string): Promise<Problem | null> {
    const { ceremony, input } = flow;
    const { from, proof } = steps[step];
    const stateAllows = from.includes(ceremony.state);
    const outOfOrder: Problem = { code: 'out-of-order', step, state: ceremony.state };
    if (proof !== 'none' && input.proof !== undefined) {
      const refused = await this.prove(flow, step, input.proof, stateAllows, nextNonce);
      if (refused) return refused === 'state' ? outOfOrder : refused;
    } else {
      if (!stateAllows) return outOfOrder;
      if (proof === 'use' || proof === 'registration') return { code: 'proof-required' };
    }
    if (step !== 'authenticate' && addressKey(input.userid) !== ceremony.address) {
      return { code: 'invalid', field: 'userid', reason: 'is not the one that this sign-in was begun for' };
    }
    return null;
  }

  private async prove(
    flow: Flow,
    step: Step,
    proof: string,
    stateAllows: boolean,
    nextNonce: string,
  ): Promise<Problem | 'state' | null> {
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
      consumeNonce: (nonce) => this.consume(em, ceremony.id, nonce, nextNonce),
      nowSeconds: seconds(deps.clock.now()),
    });
    if (!verdict.valid) return this.tell(flow, step, verdict);
    flow.publicJwk = verdict.publicJwk ?? null;
    // Only `authenticate` can do without: whoever's key this is, it is not a trusted one of this user.
    if (steps[step].proof === 'use' && !flow.device) return { code: 'proof-rejected', reason: 'device' };
    return null;
  }

  /** The key that the proof must be made with; also notes the device, should it be. */
  private async keyOf(flow: Flow, step: Step): Promise<ProofKey> {
    if (steps[step].proof === 'registration') return { kind: 'registration' };
    const { em, deps, caller, ceremony, input } = flow;
    const userId =
      step === 'authenticate' ? await accountOf(em, caller.project.id, addressKey(input.userid)) : ceremony.user?.id;
    flow.device = await deps.devices.trusted(em, caller.client.id, ceremony.jkt ?? '', userId ?? nobody);
    if (!flow.device) return { kind: 'unknown' };
    const { jkt, publicJwk, alg } = flow.device;
    return { kind: 'stored', jkt, jwk: publicJwk, alg };
  }

  private async consume(em: EntityManager, ceremonyId: string, nonce: string, next: string): Promise<boolean> {
    const now = this.deps.clock.now();
    const consumed = await changed(
      em,
      `update ceremonies set nonce_hash = ?, nonce_expires_at = ?
       where id = ? and nonce_hash = ? and nonce_expires_at > ?`,
      [digest(next), secondsLater(now, nonceTtlSeconds), ceremonyId, digest(nonce), now],
    );
    return consumed === 1;
  }

  private tell(flow: Flow, step: Step, { fault }: Extract<ProofVerdict, { valid: false }>): Problem | 'state' {
    if (fault === 'state') return 'state';
    if (fault === 'nonce') return { code: 'nonce-rejected' };
    const { em, deps, caller } = flow;
    deps.audit.record(em, {
      type: 'device.proof_rejected',
      result: 'failure',
      actor: caller.actor,
      projectId: caller.project.id,
      clientId: caller.client.id,
      detail: { step, fault },
    });
    return { code: 'proof-rejected', reason: fault };
  }
}

/** The user before their ceremony, in the order of a directory that switches the user off: neither waits for the other. */
async function lockUserOf(em: EntityManager, txn: string): Promise<void> {
  await rows(em, 'select from users where id = (select user_id from ceremonies where txn_hash = ?) for update', [
    digest(txn),
  ]);
}
