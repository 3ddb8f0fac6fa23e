import type { EntityManager } from '@mikro-orm/postgresql';
import type { Devices } from '../credentials/devices.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import type { Clock } from '../kernel/clock.ts';
import { refuse } from '../kernel/problem.ts';
import type { Mfa } from '../mfa/mfa.ts';
import { isTrusted } from '../policy/device-trust.ts';
import { type Project, passkeyPolicyOf } from '../projects/project.entity.ts';
import { isAddress } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';

interface Deps {
  clock: Clock;
  devices: Pick<Devices, 'list'>;
  passkeys: Pick<Passkeys, 'list'>;
  mfa: Pick<Mfa, 'factors'>;
}

/**
 * Refuses `last-sign-in-method` if the user can sign in now, and could not without this device, passkey or factor. A
 * mailbox is enough: a code by mail signs in, and enrolls a factor if one is required.
 */
export async function keepSignInMethod(
  deps: Deps,
  em: EntityManager,
  project: Project,
  user: User,
  removedId: string,
): Promise<void> {
  if (isAddress(user.email ?? user.userName)) return;
  const owner = { projectId: project.id, userId: user.id };
  const now = deps.clock.now();
  const devices = (await deps.devices.list(em, owner)).filter((device) => isTrusted(device, project, now));
  const passkeys = project.passkeys ? await deps.passkeys.list(em, owner) : [];
  const factors = await deps.mfa.factors(em, user);
  // A required passkey is used, or created after a factor: a device alone ends no sign-in.
  const isSecondRequired = project.mfaPolicy === 'required' || passkeyPolicyOf(project) === 'required';
  const canSignIn = (isLeft: (item: { id: string }) => boolean): boolean => {
    const factorsLeft = factors.filter(isLeft);
    const isFactorMet =
      factorsLeft.length === 0 ? !isSecondRequired : factorsLeft.some(({ method }) => method !== 'email');
    const isByPasskey = passkeys
      .filter(isLeft)
      .some(({ userVerified }) => userVerified || (!isSecondRequired && factorsLeft.length === 0));
    return isByPasskey || (isFactorMet && devices.some(isLeft));
  };
  if (canSignIn(() => true) && !canSignIn(({ id }) => id !== removedId)) refuse({ code: 'last-sign-in-method' });
}
