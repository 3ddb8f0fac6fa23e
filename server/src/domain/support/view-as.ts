import type { EntityManager } from '@mikro-orm/postgresql';
import { maySometimesEnter } from '../access/has-access.ts';
import type { FlowDeps } from '../ceremonies/flow.ts';
import { type PredictedStep, predictSteps } from '../ceremonies/predicted-steps.ts';
import { offeredMethods, signInContext } from '../ceremonies/sign-in-context.ts';
import { Client } from '../clients/client.entity.ts';
import type { Consents } from '../consents/consents.ts';
import type { Device } from '../credentials/device.entity.ts';
import { belongsTo } from '../credentials/devices.ts';
import { passkeyPolicyOf } from '../projects/project.entity.ts';
import { existing, keyIn, type TenantKey } from '../projects/tenant.ts';
import { isAddress } from '../users/login.ts';
import { User } from '../users/user.entity.ts';

/** The reason why a step is required. */
export const stepReasons = [
  'new-browser',
  'trusted-browser',
  'enrolled',
  'mfa-policy',
  'passkey-policy',
  'passkey-client',
  'admin',
  'second-factor',
  'fresh',
] as const;
type StepReason = (typeof stepReasons)[number];

/** The reason why this account cannot sign in here. */
export const denials = ['inactive', 'client-disabled', 'no-access', 'no-address', 'no-mail', 'no-factor'] as const;
type Denial = (typeof denials)[number];

export interface ExpectedStep {
  step: PredictedStep;
  reason: StepReason;
}

/** A sign-in in one kind of browser. */
export interface ExpectedSignIn {
  /** Null: a browser that the user has not used here. */
  device: Device | null;
  /** In order; empty if denied immediately. */
  steps: ExpectedStep[];
  /** The end of a sign-in without success. */
  denied: Denial | null;
}

export interface ViewAs {
  signIns: ExpectedSignIn[];
  /** Whether a passkey alone signs in. */
  takesPasskey: boolean;
  /** Whether the user would be asked to allow these scopes. */
  asksConsent: boolean;
}

/**
 * The sign-in of a user to an application now, on the hosted page. Reads only: the decisions are those of the sign-in
 * itself ({@link signInContext}, `nextRequirement`).
 */
export class SignInForecast {
  constructor(
    private readonly deps: Pick<FlowDeps, 'devices' | 'passkeys' | 'mfa' | 'delivery' | 'testMode'> & {
      consents: Pick<Consents, 'isRequired'>;
    },
  ) {}

  /** Refuses `not-found` for a user or client of another project. */
  async of(em: EntityManager, key: TenantKey, userId: string, scopes: readonly string[]): Promise<ViewAs> {
    const client = await existing(em, Client, key, 'client', { populate: ['project'] });
    const user = await existing(em, User, keyIn(key.project.id, userId), 'user');
    const owner = { projectId: key.project.id, userId };
    const devices = (await this.deps.devices.list(em, owner)).filter(
      (device) =>
        belongsTo(device, { client, isHosted: true, domain: null }) &&
        this.deps.devices.isTrusted(device, client.project.getEntity()),
    );
    const [trusted] = devices;
    const signIns: ExpectedSignIn[] = [];
    for (const device of [null, ...(trusted ? [trusted] : [])]) {
      signIns.push(await this.signIn(em, { client, user, device }));
    }
    const passkeys = client.project.getEntity().passkeys
      ? await this.deps.passkeys.list(em, { ...owner, domain: null })
      : [];
    return {
      signIns,
      takesPasskey: user.active && passkeys.some(({ userVerified }) => userVerified),
      asksConsent: await this.deps.consents.isRequired(em, client, user.id, {
        ...{ scope: scopes.join(' '), resources: [], organizationId: null },
      }),
    };
  }

  private async signIn(
    em: EntityManager,
    { client, user, device }: { client: Client; user: User; device: Device | null },
  ): Promise<ExpectedSignIn> {
    const { deps } = this;
    const project = client.project.getEntity();
    if (!user.active) return { device, steps: [], denied: 'inactive' };
    if (client.disabledAt) return { device, steps: [], denied: 'client-disabled' };
    if (!(await maySometimesEnter(em, client, user.id))) return { device, steps: [], denied: 'no-access' };
    const factors = await deps.mfa.factors(em, user);
    const place = {
      em,
      deps,
      caller: { project, client, request: null, organization: null },
      ceremony: { stepUp: null },
    };
    const context = await signInContext(place, factors, device ?? { user });
    const offered = await offeredMethods(place);
    const hasGrant = await deps.mfa.recoveryGrants.isUsable(em, user);
    const forecast = predictSteps({ context, factors, offered, isTrusted: device !== null, hasGrant });
    const isMailed = forecast[0]?.kind === 'mail-code';
    if (isMailed && !isAddress(user.email ?? user.userName)) return { device, steps: [], denied: 'no-address' };
    if (isMailed && !deps.delivery.isAvailable('mail') && !(await deps.testMode.holds(em, project))) {
      return { device, steps: [], denied: 'no-mail' };
    }
    const ofPasskey = passkeyReason(client, context.passkeyRequired);
    const reasons: Record<PredictedStep['kind'], StepReason> = {
      'mail-code': device ? 'fresh' : 'new-browser',
      'device-key': 'trusted-browser',
      factor: 'enrolled',
      enrolment: 'mfa-policy',
      'no-factor': 'mfa-policy',
      passkey: ofPasskey,
      creation: ofPasskey,
    };
    const last = forecast.at(-1);
    const isStuck = last?.kind === 'no-factor';
    return {
      device,
      steps: (isStuck ? forecast.slice(0, -1) : forecast).map((step) => ({ step, reason: reasons[step.kind] })),
      denied: isStuck ? 'no-factor' : null,
    };
  }
}

function passkeyReason(client: Client, isRequired: boolean): StepReason {
  if (client.passkeyRequired) return 'passkey-client';
  if (passkeyPolicyOf(client.project.getEntity()) === 'required') return 'passkey-policy';
  return isRequired ? 'admin' : 'second-factor';
}
