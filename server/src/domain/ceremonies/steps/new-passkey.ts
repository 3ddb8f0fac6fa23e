import { Device } from '../../credentials/device.entity.ts';
import type { Passkey } from '../../credentials/passkey.entity.ts';
import { mayAddPasskey, nextRequirement } from '../../policy/requirements.ts';
import type { User } from '../../users/user.entity.ts';
import type { Flow, StepOutcome } from '../flow.ts';
import { hasPasskey, mayUsePasskeys, signInContext } from '../sign-in-context.ts';
import { finish } from './finish.ts';

/** Requires a new passkey to end the sign-in. Refuses `passkey-required` if the page cannot create one. */
export function needPasskey(flow: Flow) {
  if (!mayUsePasskeys(flow)) return { refused: { code: 'passkey-required' } } as const;
  return { answer: { status: 'PASSKEY_ENROLLMENT_NEEDED' } } as const;
}

/** The device of a sign-in that may create its required passkey; null if the evidence does not allow it now. */
export async function creatorOf(flow: Flow, user: User): Promise<Device | null> {
  const { em, deps, ceremony } = flow;
  const { evidence } = ceremony;
  const key = evidence.findLast((piece) => piece.kind === 'device-key');
  const where = { project: user.project.id, id: key?.device ?? null, user: { id: user.id }, revokedAt: null };
  const device = key ? await em.findOne(Device, where as never) : null;
  if (!device) return null;
  const factors = await deps.mfa.factors(em, user);
  // The policy may have changed since: `nothing`, if it no longer requires a passkey.
  if (!['creation', 'nothing'].includes(nextRequirement(evidence, await signInContext(flow, factors, device))))
    return null;
  const context = { factors: factors.map(({ method }) => method), hasPasskey: await hasPasskey(flow, user.id) };
  return mayAddPasskey(evidence, context) ? device : null;
}

/** Ends the sign-in with its new passkey. A user without recovery codes gets them: a lost passkey has no other replacement. */
export async function finishWith(
  flow: Flow,
  { user, passkey, device }: { user: User; passkey: Passkey; device: Device },
): Promise<StepOutcome<'register-passkey'>> {
  const { em, deps, ceremony } = flow;
  // The step-up ends with the passkey.
  if (ceremony.stepUp === 'create_passkey') ceremony.stepUp = null;
  const hasCodes = (await deps.mfa.recoveryCodes.left(em, user)) > 0;
  const recoveryCodes = hasCodes ? null : await deps.mfa.recoveryCodes.issue(em, user);
  const at = deps.clock.now().toISOString();
  const proved = { kind: 'new-passkey' as const, account: user.id, credential: passkey.id, at };
  return { answer: await finish(flow, { user, credential: device, proved, recoveryCodes }), proved };
}
