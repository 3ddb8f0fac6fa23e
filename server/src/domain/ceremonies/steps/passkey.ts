import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { DemandedModel } from '../../credentials/attestation/models.ts';
import { passkeyAlgorithms } from '../../credentials/authenticator-data.ts';
import type { CredentialOrigin } from '../../credentials/credential.entity.ts';
import { storedEligibility } from '../../credentials/former-passkeys.ts';
import type { Passkey } from '../../credentials/passkey.entity.ts';
import { challengeOf, credentialIdOf, formerHandleOf, userHandleOf } from '../../credentials/passkey-values.ts';
import { checkAssertion, checkRegistration, type PasskeyExpectation } from '../../credentials/webauthn.ts';
import { Refusal } from '../../kernel/problem.ts';
import { newSecret } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import { isMailboxAlone } from '../../mfa/enrolment.entity.ts';
import { endStandIns } from '../../mfa/reset.ts';
import { accountOf, type Evidence, has, passkeyOf, withPiece } from '../../policy/evidence.ts';
import { nextRequirement } from '../../policy/requirements.ts';
import { passkeyModelsOf } from '../../projects/passkey-models.ts';
import { addressKey } from '../../users/login.ts';
import type { User } from '../../users/user.entity.ts';
import type { PasskeyPurpose } from '../ceremony.entity.ts';
import type { Flow, RefusedStep, StepRule } from '../flow.ts';
import { notify } from '../notices.ts';
import { endOpenWork } from '../open-work.ts';
import { descriptor, requestOptions, timeoutMs, verificationOf } from '../passkey-request.ts';
import { mayUsePasskeys, signInContext, siteOfPage } from '../sign-in-context.ts';
import { finish } from './finish.ts';
import { creatorOf, finishWith } from './new-passkey.ts';
import { isSignedIn, mayAdd, sessionPieceOf } from './session-proof.ts';
import { byVerifiedPasskey } from './verified-passkey.ts';

const purposes = {
  sign_in: 'sign-in',
  registration: 'registration',
  conditional_registration: 'conditional-registration',
} as const satisfies Record<string, PasskeyPurpose>;

/** Sends a challenge for a sign-in, or for creating a passkey after one. */
export const passkeyOptions: StepRule<'passkey-options'> = {
  async take(flow) {
    const { ceremony, deps, input } = flow;
    const purpose = purposes[input.purpose ?? 'sign_in'];
    const isRegistration = purpose !== 'sign-in';
    if (!mayUsePasskeys(flow)) return { refused: { code: 'passkeys-not-allowed' } };
    const isAfterSignIn = ceremony.state === 'stepped_up' && ceremony.stepUp === 'create_passkey';
    const isNeeded = ceremony.state === 'passkey_owed';
    // Without a dialog no authenticator proves its model.
    if (purpose === 'conditional-registration' && modelsOf(flow))
      return { refused: { code: 'passkey-model-not-allowed' } };
    // A required passkey is created with PIN or biometrics: never without a dialog.
    const isAllowed = isNeeded ? purpose !== 'conditional-registration' : isRegistration === isAfterSignIn;
    if (!isAllowed) return outOfOrder(flow, 'passkey-options');
    const challenge = newSecret(deps.random);
    const options = isRegistration ? await creationOptions(flow, challenge) : await signInOptions(flow, challenge);
    if (!options) return { refused: { code: 'transaction-expired' } };
    ceremony.passkeyChallengeHash = digest(challenge);
    ceremony.passkeyPurpose = purpose;
    return { answer: { status: 'PASSKEY_OPTIONS', options } };
  },
};

/** Without evidence any passkey may be used: a list would reveal whether an address has one. */
async function signInOptions(flow: Flow, challenge: string) {
  const { em, deps, caller, ceremony } = flow;
  const account = accountOf(ceremony.evidence);
  const { domain } = siteOfPage(flow);
  const known = account && (await deps.passkeys.list(em, { projectId: caller.project.id, userId: account, domain }));
  return requestOptions(deps, flow, challenge, known || undefined);
}

async function creationOptions(flow: Flow, challenge: string) {
  const { em, deps, caller, ceremony } = flow;
  const user = await deps.users.locked(em, caller.project.id, accountOf(ceremony.evidence) ?? '');
  if (!user?.active || !(await isSignedIn(flow, user))) return null;
  const { domain, hostname } = siteOfPage(flow);
  const known = await deps.passkeys.list(em, { projectId: caller.project.id, userId: user.id, domain });
  const name = user.email ?? user.userName;
  return {
    challenge,
    rp: { id: hostname, name: caller.project.name },
    user: { id: userHandleOf(user.id), name, displayName: user.displayName ?? name },
    pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: timeoutMs,
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: registrationVerification(flow),
    } as const,
    attestation: modelsOf(flow) ? ('direct' as const) : ('none' as const),
  };
}

/** Signs in with a passkey: by its own evidence, or as the second factor that this sign-in requires. */
export const verifyPasskey: StepRule<'verify-passkey'> = {
  endAtOnce: byVerifiedPasskey,

  count: (counters, { input }) => counters.passkeyChallenge(challengeOf(input.credential), ['sign-in']),

  async take(flow) {
    const { em, deps, caller, ceremony, input } = flow;
    if (!mayUsePasskeys(flow)) return { refused: { code: 'passkeys-not-allowed' } };
    const id = credentialIdOf(input.credential);
    const passkey = id === null ? null : await deps.passkeys.find(em, caller.project.id, id, siteOfPage(flow).domain);
    if (!passkey) return reject('unknown');
    const user = await deps.users.locked(em, caller.project.id, passkey.user.id);
    if (!user?.active) return reject('user');
    const { credentialId, publicKey, coseAlg: alg, signCount } = passkey;
    const handles = { userHandle: userHandleOf(user.id), formerHandle: formerHandleOf(user.subject) };
    const stored = { credentialId, publicKey, alg, signCount, backupEligible: storedEligibility(passkey), ...handles };
    const verdict = checkAssertion(input.credential, stored, expectation(flow));
    if (!verdict.valid) return rejectOf(passkey, user, verdict.fault);
    const { backupEligible } = verdict;
    // A lower counter of a device-bound key indicates a clone. Synced keys are copied by design.
    if (verdict.counterRegressed && !backupEligible) return rejectOf(passkey, user, 'counter');
    const proved: Evidence = {
      kind: 'passkey',
      account: user.id,
      at: deps.clock.now().toISOString(),
      credential: passkey.id,
      verified: verdict.userVerified,
      synced: backupEligible,
    };
    const context = await signInContext(flow, await deps.mfa.factors(em, user), passkey);
    if (nextRequirement(withPiece(ceremony.evidence, proved), context) !== 'nothing') {
      return { refused: { code: 'passkey-verification-required' } };
    }
    // The passkey names the user, regardless of the typed address.
    if (ceremony.evidence.length === 0) ceremony.address = addressKey(user.email ?? user.userName);
    if (verdict.userVerified && !passkey.userVerified) await endStandInsOfMailbox(flow, user);
    deps.passkeys.used(passkey, verdict);
    return { answer: await finish(flow, { user, credential: passkey, proved, context }), proved };
  },
};

/** Adds a passkey after a sign-in that allows it. */
export const registerPasskey: StepRule<'register-passkey'> = {
  count: (counters, { input }) =>
    counters.passkeyChallenge(challengeOf(input.credential), ['registration', 'conditional-registration']),

  async take(flow) {
    const { em, deps, caller, ceremony, input } = flow;
    const isNeeded = ceremony.state === 'passkey_owed';
    if (!isNeeded && ceremony.stepUp !== 'create_passkey') return outOfOrder(flow, 'register-passkey');
    if (!mayUsePasskeys(flow)) return { refused: { code: 'passkeys-not-allowed' } };
    const user = await deps.users.locked(em, caller.project.id, accountOf(ceremony.evidence) ?? '');
    if (!user?.active || !(await isSignedIn(flow, user))) return { refused: { code: 'transaction-expired' } };
    const device = isNeeded ? await creatorOf(flow, user) : null;
    if (isNeeded ? !device : !(await mayAdd(flow, user))) return { refused: { code: 'transaction-expired' } };
    const verdict = await checkRegistration(input.credential, {
      ...expectation(flow),
      userVerification: registrationVerification(flow),
      presenceRequired: ceremony.passkeyPurpose !== 'conditional-registration',
      models: modelsOf(flow),
    });
    if (!verdict.valid)
      return verdict.aaguid === undefined ? reject(verdict.fault) : rejectModel(verdict.fault, verdict.aaguid);
    const added = await add(flow, user, verdict.passkey);
    if ('refused' in added) return added;
    if (device) return finishWith(flow, { user, passkey: added, device });
    if (added.userVerified && caller.sessionSecret) {
      const created = { userId: user.id, passkeyId: added.id };
      await deps.sessions.createdPasskey(em, caller.project, caller.sessionSecret, created);
    }
    ceremony.finishedAt = deps.clock.now();
    await em.flush();
    const { domain, hostname } = siteOfPage(flow);
    const all = await deps.passkeys.list(em, { projectId: caller.project.id, userId: user.id, domain });
    return {
      answer: {
        status: 'PASSKEY_REGISTERED',
        name: added.name,
        rpId: hostname,
        userHandle: userHandleOf(user.id),
        credentialIds: all.map(({ credentialId }) => credentialId),
      },
    };
  },
};

async function add(flow: Flow, user: User, created: Parameters<Flow['deps']['passkeys']['register']>[1]['created']) {
  const { em, deps, caller, ceremony } = flow;
  const { domain } = siteOfPage(flow);
  const registration = { user, created, createdBy: originOf(ceremony.evidence), clientId: caller.client.id, domain };
  try {
    if (created.userVerified) await endStandInsOfMailbox(flow, user);
    const passkey = await deps.passkeys.register(em, { ...registration, actor: caller.actor });
    await em.flush();
    await notify(flow, user, { template: 'passkey-changed', change: 'added', passkey: passkey.name });
    return passkey;
  } catch (error) {
    if (error instanceof Refusal) return reject(error.problem.code);
    // Another user has registered the credential in the meantime.
    if (error instanceof UniqueConstraintViolationException) return reject('taken');
    throw error;
  }
}

/**
 * Runs before the first passkey that verifies its user, if the user has no factor or only mail codes: ends recovery
 * codes, remembered devices and the user's other open sign-ins. They would replace the passkey, and a reader of the
 * mailbox could have obtained or used the codes.
 */
async function endStandInsOfMailbox({ em, deps, ceremony }: Flow, user: User): Promise<void> {
  const hasVerified = await deps.passkeys.isHeldBy(em, { projectId: user.project.id, userId: user.id });
  if (hasVerified || !isMailboxAlone(await deps.mfa.factors(em, user))) return;
  await endOpenWork(em, deps.clock.now(), user, { keepCeremonyId: ceremony.id, keepsTokens: true });
  await endStandIns(em, user);
}

function originOf(evidence: readonly Evidence[]): CredentialOrigin {
  if (passkeyOf(evidence)) return 'passkey';
  const { amr } = sessionPieceOf(evidence) ?? { amr: [] as string[] };
  if (amr.includes('mfa')) return amr.includes('pop') ? 'passkey' : 'factor';
  return has(evidence, 'factor') || has(evidence, 'recovery-code') ? 'factor' : 'mail-code';
}

function expectation(flow: Flow): PasskeyExpectation {
  return {
    challenge: flow.challenge ?? '',
    origins: [flow.caller.origin],
    rpId: siteOfPage(flow).hostname,
    userVerification: verificationOf(flow),
    userHandleRequired: flow.ceremony.evidence.length === 0,
  };
}

function registrationVerification({ ceremony }: Flow): 'required' | 'preferred' {
  return ceremony.state === 'passkey_owed' ? 'required' : 'preferred';
}

/** The models that the project allows now; null: every one. */
function modelsOf({ deps, caller }: Flow): DemandedModel | null {
  const models = passkeyModelsOf(caller.project);
  return models && { ...models, now: deps.clock.now() };
}

function outOfOrder(flow: Flow, step: 'passkey-options' | 'register-passkey'): RefusedStep {
  return { refused: { code: 'out-of-order', step, state: flow.ceremony.state } };
}

function reject(reason: string): RefusedStep {
  const event = { type: 'passkey.rejected' as const, detail: { fault: reason } };
  return { refused: { code: 'passkey-rejected', reason }, event };
}

/** Rejects a new passkey that does not prove an allowed model, with the model that it claims. */
function rejectModel(fault: string, aaguid: string): RefusedStep {
  const event = { type: 'passkey.rejected' as const, detail: { fault, aaguid } };
  return { refused: { code: 'passkey-model-not-allowed' }, event };
}

/** Like {@link reject}, with the user and the passkey in the event. */
function rejectOf(passkey: Passkey, user: User, fault: string): RefusedStep {
  const subject = { kind: 'user', id: user.id, name: user.userName };
  return { ...reject(fault), event: { type: 'passkey.rejected', subject, detail: { fault, passkeyId: passkey.id } } };
}
