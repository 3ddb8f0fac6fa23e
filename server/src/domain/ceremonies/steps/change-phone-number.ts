import type { ChangeBy } from '../../contacts/pending-changes.ts';
import { maskPhone } from '../../delivery/mask.ts';
import { accountOf, freshAt } from '../../policy/evidence.ts';
import { nextRequirement } from '../../policy/requirements.ts';
import type { Flow, StepRule } from '../flow.ts';
import { signInContext } from '../sign-in-context.ts';

/** After a step-up: sends a code to the new number. Repeatable, also with another number. */
export const changePhoneNumber: StepRule<'change-phone-number'> = {
  async take(flow) {
    const { em, deps, caller, input } = flow;
    const by = await personOf(flow);
    if (!by) return { refused: { code: 'transaction-expired' } };
    const sent = await deps.phones.begin(em, by, placeOf(flow), input.phoneNumber ?? '');
    if ('refused' in sent) return sent;
    return {
      answer: {
        status: 'PHONE_CODE_SENT',
        sentTo: maskPhone(sent.to),
        resendAfterSeconds: sent.resendAfterSeconds,
        ...((await deps.testMode.holds(em, caller.project)) && { code: sent.code }),
      },
    };
  },
};

/** Verifies the code of the new number and stores the number. */
export const verifyPhoneNumber: StepRule<'verify-phone-number'> = {
  async count(counters, { ceremony }) {
    const wait = await counters.codeOf('phone', accountOf(ceremony.evidence) ?? '');
    if (wait !== null) return { refused: { code: 'too-many', retryAfterSeconds: wait } };
    return { counted: await counters.code('phone') };
  },

  async take(flow) {
    const { em, deps, caller, ceremony, input, device, counted } = flow;
    const by = await personOf(flow);
    if (!by || !device) return { refused: { code: 'transaction-expired' } };
    const changed = await deps.phones.complete(em, by, placeOf(flow), counted, input.otp ?? '');
    if ('refused' in changed) return changed;
    ceremony.finishedAt = deps.clock.now();
    deps.devices.used(device, caller.project, 0);
    return { answer: { status: 'PHONE_CHANGED' } };
  },
};

function placeOf({ ceremony, caller }: Flow) {
  return { boundTo: ceremony.id, jkt: ceremony.jkt ?? null, clientId: caller.client.id };
}

/** Null if the evidence is not enough for the user's current factors and passkeys. */
async function personOf(flow: Flow): Promise<ChangeBy | null> {
  const { em, deps, caller, ceremony, device } = flow;
  if (ceremony.stepUp !== 'change_phone_number' || !freshAt(ceremony.evidence)) return null;
  const user = await deps.users.locked(em, caller.project.id, accountOf(ceremony.evidence) ?? '');
  if (!user?.active || !device) return null;
  const context = await signInContext(flow, await deps.mfa.factors(em, user), device);
  if (nextRequirement(ceremony.evidence, context) !== 'nothing') return null;
  const { actor, client, locale, project } = caller;
  return { user, project, app: client.name, clientId: client.id, locale, actor };
}
