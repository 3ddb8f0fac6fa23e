import type { PasskeyRequestOptions } from '@latchkey/contracts';
import type { EntityManager } from '@mikro-orm/postgresql';
import { currentClient } from '../clients/client-registry.ts';
import type { OrganizationConnection } from '../connections/realms.ts';
import { credentialIdOf } from '../credentials/passkey-values.ts';
import { checkProof, type ProofKey, type ProofVerdict } from '../credentials/proof.ts';
import { isPast, seconds, secondsLater } from '../kernel/clock.ts';
import { pastDeadlocks, rolledBackIfRefused } from '../kernel/database.ts';
import { type Problem, refuse } from '../kernel/problem.ts';
import { newSecret } from '../kernel/random.ts';
import { digest } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { LimitRule } from '../limits/limits.ts';
import { networkOf } from '../otp/network.ts';
import { recordNetworkLimit } from '../otp/network-limit.ts';
import { accountOf, has, provedIn, withPiece } from '../policy/evidence.ts';
import { addressKey } from '../users/login.ts';
import { decidedOn } from './account.ts';
import { type CheckedPage, inSignIn, type SigninCaller } from './callers.ts';
import { type Ceremony, nonceTtlSeconds, type PasskeyPurpose, txnTtlSeconds } from './ceremony.entity.ts';
import { type CodeChallenges, chosenChallenge, lacksPkce } from './code-challenge.ts';
import { Counters } from './counters.ts';
import {
  type Flow,
  type FlowDeps,
  type RefusedStep,
  type StepInput,
  type StepOutcome,
  StepRefusal,
  type StepRule,
} from './flow.ts';
import { open, type TakenNonce } from './opening.ts';
import { requestOptions } from './passkey-request.ts';
import { refusalEvent } from './refusals.ts';
import { isPending, type Resumed, resumed } from './resume.ts';
import { mayUsePasskeys, siteOfPage } from './sign-in-context.ts';
import { authenticate } from './steps/authenticate.ts';
import { begunKey } from './steps/begun-devices.ts';
import { changePhoneNumber, verifyPhoneNumber } from './steps/change-phone-number.ts';
import { passkeyOptions, registerPasskey, verifyPasskey } from './steps/passkey.ts';
import { connectionMissing, realmOfStep } from './steps/required-connection.ts';
import { initiateMfa, verifyMfa } from './steps/second-factor.ts';
import { type Answers, type CeremonyStep, steps, stepsWithoutAddress } from './steps/steps.ts';
import { beginningStatement } from './steps/trusted-device.ts';
import { verifyDevice } from './steps/verify-device.ts';
import { verifyEmailOtp } from './steps/verify-email-otp.ts';

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
}

export interface Challenge {
  txn: string;
  nonce: string;
  expiresInSeconds: number;
  /** Server time, Unix seconds: pages correct their clock by it. */
  nowSeconds: number;
  /** RFC 7636 challenge that the code will be bound to, if any. */
  codeChallenge: string | undefined;
  /** The options that `passkey-options` returns, if the page requested them and can use passkeys. */
  passkeyOptions: PasskeyRequestOptions | null;
}

interface Begun extends CodeChallenges {
  /** RFC 7638 thumbprint of the page's device key. */
  jkt?: string | undefined;
  /** Whether the response contains options, so that the first step can be a passkey. */
  passkey?: boolean | undefined;
}

/** No user has this id: an unknown address costs the same lookup. */
const noUser = '00000000-0000-0000-0000-000000000000';

/**
 * Sign-ins (decisions §8): runs the table in `steps.ts`. A step is one read and one write, if its sign-in ends with it; else one
 * transaction that locks the ceremony's row. So steps of one sign-in never overlap.
 */
export class Ceremonies {
  private readonly challengesPerNetwork: LimitRule;

  constructor(private readonly deps: CeremonyDeps) {
    this.challengesPerNetwork = { name: 'challenge-network', max: deps.challengesPerMinute, windowSeconds: 60 };
  }

  /**
   * Starts a sign-in. Without `jkt` it cannot register a device, so it never succeeds.
   *
   * @param ip the caller's address, for the limit per network. Refuses `too-many`
   */
  async challenge(page: CheckedPage, begun: Begun, ip: string | undefined): Promise<Challenge> {
    const { callers } = this.deps;
    await this.countStart(ip);
    const challenge = await this.begin(page, begun);
    if (challenge) return challenge;
    const current = await callers.current(page);
    if (lacksPkce(current, chosenChallenge(current, begun))) refuse({ code: 'pkce-required' });
    return (await this.begin(current, begun)) ?? refuse({ code: 'unauthenticated' });
  }

  /**
   * The pending sign-in of the hosted page, for a page that was reloaded: with a new `txn`, so that a page has it, and the
   * prompt that it had reached. The caller proves the flow's cookie; later steps need the device key as before.
   * Null if none is pending. Limited like {@link challenge}. Refuses `too-many`.
   */
  async resume(
    page: CheckedPage,
    { ip, sessionSecret }: { ip: string | undefined; sessionSecret: string | undefined },
  ): Promise<Resumed | null> {
    await this.countStart(ip);
    return this.deps.db.transaction((em) => resumed(em, this.deps, { ...page, sessionSecret }));
  }

  /** Whether {@link resume} finds a pending sign-in of the hosted page's request. */
  isPending(request: Parameters<typeof isPending>[1]): Promise<boolean> {
    const { clock, db } = this.deps;
    return isPending(db.reader(), request, clock.now());
  }

  /** Counts a start of an unauthenticated caller. Refuses `too-many`. */
  private async countStart(ip: string | undefined): Promise<void> {
    const { db, limits } = this.deps;
    const spent = await limits.spendPrepaid(db, this.challengesPerNetwork, networkOf(ip));
    if (!spent.allowed) refuse({ code: 'too-many', retryAfterSeconds: spent.retryAfterSeconds });
  }

  /** Null, with nothing written, if the page lacks PKCE or is stale. */
  private async begin(page: CheckedPage, begun: Begun): Promise<Challenge | null> {
    const codeChallenge = chosenChallenge(page, begun);
    if (lacksPkce(page, codeChallenge)) return null;
    const { db, clock, random } = this.deps;
    const [txn, nonce] = [newSecret(random), newSecret(random)];
    const now = clock.now();
    const usesPasskey = begun.passkey === true && mayUsePasskeys({ deps: this.deps, caller: page });
    const challenge = usesPasskey ? newSecret(random) : null;
    const purpose: PasskeyPurpose | null = challenge === null ? null : 'sign-in';
    const challengeHash = challenge === null ? null : digest(challenge);
    const txnHash = digest(txn);
    const insertion = sql`insert into ceremonies (id, project_id, client_id, request_id, txn_hash, nonce_hash, nonce_expires_at, state,
          origin, jkt, code_challenge, passkey_challenge_hash, passkey_purpose, amr, created_at, expires_at)
        select ${random.id()}::uuid, ${page.project.id}::uuid, ${page.client.id}::uuid, ${page.request?.id ?? null}::uuid,
          ${txnHash}, ${digest(nonce)}, ${secondsLater(now, nonceTtlSeconds)}::timestamptz, 'challenged',
          ${page.origin}, ${begun.jkt ?? null}, ${codeChallenge ?? null}, ${challengeHash}::text,
          ${purpose}::text, '{}', ${now}::timestamptz, ${secondsLater(now, txnTtlSeconds)}::timestamptz
        where ${page.key ? sql`exists (${currentClient(page)})` : sql`true`}`;
    if (begun.jkt === undefined) {
      if ((await execute(db.alone, insertion, { prepare: 'ceremonies.challenge' })) !== 1) return null;
    } else {
      const rows = await query(db.alone, beginningStatement(page, insertion), {
        prepare: 'ceremonies.challenge-device',
      });
      if (!rows[0]?.is_begun) return null;
      const devices = rows.filter((row) => row.credential_id !== null);
      if (devices.length > 0) this.deps.begunDevices.hold(begunKey(page, txnHash), devices);
    }
    const asking = { caller: page, ceremony: { stepUp: null } };
    const passkeyOptions = challenge === null ? null : requestOptions(this.deps, asking, challenge);
    return { txn, nonce, expiresInSeconds: txnTtlSeconds, nowSeconds: seconds(now), codeChallenge, passkeyOptions };
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

  /** Replaces the nonce for a step with malformed fields. Undefined if the sign-in is unknown or has ended. */
  async replaceNonce(page: CheckedPage, txn: string): Promise<string | undefined> {
    const { db, clock, random } = this.deps;
    const nonce = newSecret(random);
    const now = clock.now();
    const next = { hash: digest(nonce), expiresAt: secondsLater(now, nonceTtlSeconds) };
    const opened = await db.transaction((em) => open(em, page, { txn }, { now, next, locksUser: false }));
    return opened === null || opened === 'page-changed' ? undefined : nonce;
  }

  /** Null, with nothing written, if the cached page is stale. */
  private async attempt<S extends CeremonyStep>(step: S, caller: SigninCaller, input: StepInput) {
    const { db, random } = this.deps;
    const nonce = newSecret(random);
    const rule: StepRule<S> = rules[step];
    const realm = await realmOfStep(this.deps.db.alone, step, caller, input);
    const ended = realm ? null : await rule.endAtOnce?.(this.deps, caller, input, nonce);
    if (ended) return { ...ended, nonce };
    const outcome = await pastDeadlocks(() =>
      db.transaction((em) => this.decide(em, step, caller, input, nonce, realm)),
    );
    if (!outcome) return null;
    if ('ended' in outcome) throw new StepRefusal(outcome.ended, step);
    if (!('refused' in outcome)) return { ...outcome.answer, nonce };
    const canContinue = outcome.refused.code !== 'transaction-expired';
    throw new StepRefusal(await this.completed(outcome.refused, input), step, canContinue ? nonce : undefined);
  }

  /** Adds whether any project has this passkey: a transaction sees only one project. */
  private async completed(problem: Problem, { credential }: StepInput): Promise<Problem> {
    if (problem.code !== 'passkey-rejected' || problem.reason !== 'unknown') return problem;
    return { ...problem, unknown: await this.deps.passkeys.isUnknown(this.deps.db, credentialIdOf(credential)) };
  }

  /**
   * One step in four parts: the opening, which takes the nonce; admission; the count of the attempt; and the step itself,
   * which is rolled back if it refuses. So a refusal changes only counters and the nonce. Null if the page is stale.
   */
  private async decide<S extends CeremonyStep>(
    em: EntityManager,
    step: S,
    caller: SigninCaller,
    input: StepInput,
    nonce: string,
    realm: OrganizationConnection | null,
  ): Promise<StepOutcome<S> | null> {
    const provesNothing = step === 'authenticate' && input.proof === undefined;
    const now = this.deps.clock.now();
    const next = { hash: digest(nonce), expiresAt: secondsLater(now, nonceTtlSeconds) };
    const opened = await open(em, caller, input, { now, next, locksUser: !provesNothing });
    if (opened === 'page-changed') return null;
    if (!opened) return this.expired(em, step, caller);
    const { ceremony, taken } = opened;
    const sentTo = ceremony.address ?? null;
    const flow: Flow = {
      em,
      deps: this.deps,
      caller: inSignIn(caller, provedIn(ceremony.evidence)[0] ?? ceremony.id),
      ceremony,
      input,
      device: null,
      publicJwk: null,
      counted: null,
      challenge: null,
    };
    const refused = (await this.checkStep(flow, step, taken)) ?? (await connectionMissing(flow, realm));
    const rule: StepRule<S> = rules[step];
    const outcome =
      refused ?? (await this.count(flow, rule)) ?? (await rolledBackIfRefused(em, () => run(flow, step, rule)));
    if ('refused' in outcome) await this.note(flow, step, outcome, sentTo);
    if ('ended' in outcome) await this.note(flow, step, { refused: outcome.ended }, sentTo);
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

  /** Names no user: without a sign-in, anyone can send any address. */
  private async expired(em: EntityManager, step: CeremonyStep, { actor, client, project }: SigninCaller) {
    const code = 'transaction-expired';
    const about = { projectId: project.id, clientId: client.id, detail: { step } };
    const event = { type: 'signin.refused', actor, ...about } as const;
    await this.deps.audit.recordRepeated(em, event, code);
    return { refused: { code } } as const;
  }

  /**
   * Writes the counters and the audit event of a refusal.
   *
   * @param sentTo the address that the sign-in had before the step
   */
  private async note(
    flow: Flow,
    step: CeremonyStep,
    { refused, counts = [], event }: RefusedStep,
    sentTo: string | null,
  ): Promise<void> {
    const { em, caller, deps } = flow;
    for (const count of counts) {
      if ('sms' in count) await deps.smsGuard.spend(em, count.sms);
      else await deps.limits.spend(em, count.rule, count.subject);
    }
    const { actor, client, project } = caller;
    const auditEvent = event ?? (await refusalEvent(flow, step, refused));
    if (!auditEvent) return;
    const fault = String(auditEvent.detail?.['fault'] ?? 'wrong');
    const entry = { ...auditEvent, actor, projectId: project.id, clientId: client.id };
    // The limits on codes bound the addresses that sign-ins have; a refused step can name any other one.
    const isBounded = sentTo !== null && sentTo === flow.ceremony.address;
    await deps.audit.recordRepeated(em, entry, fault, { each: isBounded ? 'subject' : undefined });
    await recordNetworkLimit(deps.audit, em, refused, { actor, projectId: project.id });
  }

  /** Checks the step's state, proof and user; null: accepted. */
  private async checkStep(flow: Flow, step: CeremonyStep, nonce: TakenNonce): Promise<RefusedStep | null> {
    const { caller, ceremony, input } = flow;
    const { from, proof } = steps[step];
    const stateAllows = from.includes(ceremony.state);
    const outOfOrder: RefusedStep = { refused: { code: 'out-of-order', step, state: ceremony.state } };
    if (proof !== 'none' && proof !== 'passkey' && input.proof !== undefined) {
      const refused = await this.prove(flow, step, input.proof, stateAllows, nonce);
      if (refused) return refused === 'state' ? outOfOrder : refused;
    } else {
      if (!stateAllows) return outOfOrder;
      if (proof === 'use' || proof === 'registration') return { refused: { code: 'proof-required' } };
    }
    const isNamed = step !== 'authenticate' && !stepsWithoutAddress.includes(step);
    if (isNamed && addressKey(input.userid ?? '') !== ceremony.address) {
      const reason = 'is not the one that this sign-in was started for';
      return { refused: { code: 'invalid', field: 'userid', reason } };
    }
    return lacksPkce(caller, ceremony.codeChallenge) ? { refused: { code: 'pkce-required' } } : null;
  }

  private async prove(
    flow: Flow,
    step: CeremonyStep,
    proof: string,
    stateAllows: boolean,
    taken: TakenNonce,
  ): Promise<RefusedStep | 'state' | null> {
    const { deps, caller, ceremony, input } = flow;
    const now = deps.clock.now();
    const verdict = await checkProof(proof, {
      key: await this.keyOf(flow, step),
      act: step,
      issuer: siteOfPage(flow).origin,
      projectId: caller.project.id,
      clientId: caller.client.id,
      origin: caller.origin,
      originAllowed: true,
      txn: input.txn,
      stateAllows,
      codeChallenge: ceremony.codeChallenge ?? null,
      jkt: ceremony.jkt ?? null,
      takesKey: steps[step].proof === 'registration' && has(ceremony.evidence, 'federated'),
      body: input.body,
      consumeNonce: async (nonce) => digest(nonce) === taken.hash && !isPast(taken.expiresAt, now),
      nowSeconds: seconds(now),
    });
    if (!verdict.valid) return rejection(step, verdict);
    if (verdict.isOfSuspended) return { refused: { code: 'account-inactive' } };
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
        ? (await decidedOn(em, caller, addressKey(input.userid ?? ''))).account
        : accountOf(ceremony.evidence);
    const device = await deps.devices.find(
      em,
      { client: caller.client, isHosted: caller.request !== null, domain: siteOfPage(flow).domain },
      ceremony.jkt ?? '',
      userId ?? noUser,
    );
    if (!device) return { kind: 'unknown' };
    const { jkt, publicJwk: jwk, alg } = device;
    if (!device.user.getEntity().active) return { kind: 'suspended', jkt, jwk, alg };
    flow.device = device;
    return { kind: 'stored', jkt, jwk, alg };
  }
}

/** Takes the step; if accepted, updates the ceremony's state by the table and appends the evidence, or ends it. */
async function run<S extends CeremonyStep>(flow: Flow, step: S, rule: StepRule<S>): Promise<StepOutcome<S>> {
  const { ceremony } = flow;
  const outcome = await rule.take(flow);
  if ('refused' in outcome) return outcome;
  if ('ended' in outcome) {
    ceremony.expiresAt = flow.deps.clock.now();
    return outcome;
  }
  if (outcome.proved) ceremony.evidence = withPiece(ceremony.evidence, outcome.proved);
  const leadsTo: Record<string, Ceremony['state'] | 'stays'> = steps[step].leadsTo;
  const next = leadsTo[outcome.answer.status];
  if (next !== undefined && next !== 'stays') {
    ceremony.state = next === 'finished' && !ceremony.finishedAt ? 'stepped_up' : next;
  }
  return outcome;
}

function rejection(step: CeremonyStep, { fault }: Extract<ProofVerdict, { valid: false }>): RefusedStep | 'state' {
  if (fault === 'state') return 'state';
  if (fault === 'nonce') return { refused: { code: 'nonce-rejected' } };
  return {
    refused: { code: 'proof-rejected', reason: fault },
    event: { type: 'device.proof_rejected', detail: { step, fault } },
  };
}
