import { looksLikeRecoveryCode } from '../../mfa/recovery-codes.ts';
import { accountOf, type Evidence, isRecovered, withPiece } from '../../policy/evidence.ts';
import { nextRequirement } from '../../policy/requirements.ts';
import type { User } from '../../users/user.entity.ts';
import type { Accepted, Flow, RefusedStep } from '../flow.ts';
import { notifyEverywhere } from '../notices.ts';
import { signInContext } from '../sign-in-context.ts';
import { finish } from './finish.ts';
import { needPasskey } from './new-passkey.ts';

/**
 * Signs in by the code of a recovery grant, together with the mail code of this sign-in; if a passkey is required, a
 * new one must follow. Null if the code is not that of a usable grant, or does not suffice: the caller tries it as
 * another code.
 */
export async function byGrant(flow: Flow): Promise<Accepted<'verify-mfa'> | RefusedStep | null> {
  const { em, deps, caller, ceremony, device, input } = flow;
  const typed = input.otp ?? '';
  if (!looksLikeRecoveryCode(typed)) return null;
  const user = await deps.users.locked(em, caller.project.id, accountOf(ceremony.evidence) ?? '');
  if (!user?.active || !device) return null;
  const pretended: Evidence = {
    kind: 'recovery-grant',
    account: user.id,
    at: deps.clock.now().toISOString(),
    grant: '',
  };
  const evidence = withPiece(ceremony.evidence, pretended);
  const context = await signInContext(flow, await deps.mfa.factors(em, user), device);
  const next = nextRequirement(evidence, context);
  const isEnough = isRecovered(evidence) && (next === 'nothing' || next === 'creation');
  const grant = isEnough ? await deps.mfa.recoveryGrants.use(em, user, typed) : null;
  if (grant === null) return null;
  await note(flow, user);
  const proved: Evidence = { ...pretended, grant };
  await em.flush();
  if (next === 'creation') return { ...needPasskey(flow), proved };
  return { answer: await finish(flow, { user, credential: device, proved }), proved };
}

async function note({ em, deps, caller }: Flow, user: User): Promise<void> {
  deps.audit.record(em, {
    type: 'recovery.used',
    actor: caller.actor,
    projectId: caller.project.id,
    clientId: caller.client.id,
    subject: subjectOf(user),
  });
  const at = deps.clock.now().toISOString();
  await notifyEverywhere(em, deps.delivery, user, { template: 'recovery-used', app: caller.client.name, at });
}

function subjectOf({ id, userName: name }: User) {
  return { kind: 'user', id, name };
}
