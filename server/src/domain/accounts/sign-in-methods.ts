import type { EntityManager } from '@mikro-orm/postgresql';
import { contextOf } from '../ceremonies/sign-in-context.ts';
import type { Identities } from '../connections/identities.ts';
import type { Devices } from '../credentials/devices.ts';
import type { Passkeys } from '../credentials/passkeys.ts';
import type { Clock } from '../kernel/clock.ts';
import { refuse } from '../kernel/problem.ts';
import type { Mfa } from '../mfa/mfa.ts';
import { isTrusted } from '../policy/device-trust.ts';
import type { Evidence } from '../policy/evidence.ts';
import { nextRequirement } from '../policy/requirements.ts';
import type { Project } from '../projects/project.entity.ts';
import type { MfaMethod } from '../projects/project.resource.ts';
import { isAddress } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';

interface Deps {
  clock: Clock;
  devices: Pick<Devices, 'list'>;
  identities: Pick<Identities, 'usableOf'>;
  passkeys: Pick<Passkeys, 'list'>;
  mfa: Pick<Mfa, 'factors'>;
}

/**
 * Refuses `last-sign-in-method` if the user can sign in now, and could not without this device, passkey, linked account or factor. A
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
  const identities = await deps.identities.usableOf(em, user);
  const factors = (await deps.mfa.factors(em, user)).map(({ id, method, besidePasskey }) => ({
    id,
    method,
    besidePasskey,
  }));
  const isPossible = (isLeft: (item: { id: string }) => boolean) =>
    canSignIn(project, { devices, identities, passkeys, factors }, isLeft);
  if (isPossible(() => true) && !isPossible(({ id }) => id !== removedId)) refuse({ code: 'last-sign-in-method' });
}

/**
 * What a user without a mailbox can prove: trusted devices, accounts at usable connections, passkeys that the project accepts,
 * verified factors.
 */
export interface SignInMeans {
  devices: readonly { id: string }[];
  identities?: readonly { id: string }[];
  passkeys: readonly { id: string; userVerified: boolean }[];
  factors: readonly { id: string; method: MfaMethod; besidePasskey: boolean }[];
}

/** Whether one of the possible sign-ins meets the policy. Pure. `creation`: a required passkey can be created in it. */
export function canSignIn(
  project: Project,
  means: SignInMeans,
  isLeft: (item: { id: string }) => boolean = () => true,
): boolean {
  const [devices, passkeys] = [means.devices.filter(isLeft), means.passkeys.filter(isLeft)];
  const factors = means.factors.filter(isLeft);
  const proof = { account: '', at: new Date(0).toISOString() };
  const byFactor = factors
    .filter(({ method }) => method !== 'email')
    .map(({ id, ...factor }): Evidence => ({ ...proof, ...factor, kind: 'factor', enrolment: id }));
  const signIns: Evidence[][] = [
    ...passkeys.map(({ id, userVerified }): Evidence[] => [
      { ...proof, kind: 'passkey', credential: id, verified: userVerified, synced: false },
    ]),
    ...[
      ...devices.map(({ id }): Evidence => ({ ...proof, kind: 'device-key', device: id })),
      ...(means.identities ?? []).filter(isLeft).map(atProvider),
    ].flatMap((first) => [[first], ...byFactor.map((factor) => [first, factor])]),
  ];
  const page = {
    caller: { project, client: { passkeyRequired: false }, request: null, organization: null },
    ceremony: { stepUp: null },
  };
  const holdsPasskey = passkeys.some(({ userVerified }) => userVerified);
  const context = contextOf(page, { factors, holdsPasskey, skipsFactor: false });
  return signIns.some((evidence) => ['nothing', 'creation'].includes(nextRequirement(evidence, context)));
}

function atProvider({ id }: { id: string }): Evidence {
  const asked = { amr: [], acr: null, authTime: null, isFresh: false };
  return {
    account: '',
    at: new Date(0).toISOString(),
    kind: 'federated',
    connection: '',
    version: 0,
    subject: id,
    ceremony: '',
    ...asked,
  };
}
