import type { PhoneChangeBy } from '../phones/phone-changes.ts';
import type { Flow, Outcome } from './flow.ts';
import { maskPhone } from './mask.ts';

/** After a step-up: sends a code to the new number. Again: another code, or to another number. */
export async function changePhoneNumber(flow: Flow): Promise<Outcome<'change-phone-number'>> {
  const { em, deps, caller, ceremony, input } = flow;
  const by = await person(flow);
  if (!by) return { refused: { code: 'transaction-expired' } };
  const place = { boundTo: ceremony.id, jkt: ceremony.jkt ?? null };
  const sent = await deps.phones.begin(em, by, place, input.phoneNumber ?? '');
  if ('refused' in sent) return sent;
  return {
    status: 'PHONE_CODE_SENT',
    sentTo: maskPhone(sent.to),
    resendAfterSeconds: sent.resendAfterSeconds,
    ...((await deps.testMode.holds(em, caller.project)) && { code: sent.code }),
  };
}

/** The code of the new number, which is on record from here on. */
export async function verifyPhoneNumber(flow: Flow): Promise<Outcome<'verify-phone-number'>> {
  const { em, deps, caller, ceremony, input, device } = flow;
  const by = await person(flow);
  if (!by || !device) return { refused: { code: 'transaction-expired' } };
  const place = { boundTo: ceremony.id, jkt: ceremony.jkt ?? null };
  const changed = await deps.phones.complete(em, by, place, input.otp ?? '');
  if ('refused' in changed) return changed;
  ceremony.finishedAt = deps.clock.now();
  deps.devices.used(device, caller.project, 0);
  return { status: 'PHONE_CHANGED' };
}

async function person({ em, deps, caller, ceremony }: Flow): Promise<PhoneChangeBy | null> {
  const user = await deps.users.locked(em, caller.project.id, ceremony.user?.id ?? '');
  if (!user?.active) return null;
  const { actor, client, locale, project } = caller;
  return { user, project, app: client.name, clientId: client.id, locale, actor };
}
