import { describe, expect, it } from 'vitest';
import { ceremonyStates } from '../ceremony.entity.ts';
import { type CeremonyStep, steps } from './steps.ts';

type Edge = { from: string; step: CeremonyStep; status: string; to: string };

/** All edges of the table. A step-up ends in `stepped_up` instead of `finished`. */
const edges: Edge[] = (Object.keys(steps) as CeremonyStep[]).flatMap((step) =>
  steps[step].from.flatMap((from) =>
    Object.entries(steps[step].leadsTo).flatMap(([status, to]) => {
      const reached = to === 'stays' ? from : (to as string);
      const ends = reached === 'finished' && status === 'SUCCESS' ? ['finished', 'stepped_up'] : [reached];
      return ends.map((end) => ({ from, step, status, to: end }));
    }),
  ),
);

/** States reachable without these edges. */
function reachable(without: (edge: Edge) => boolean): Set<string> {
  const seen = new Set(['challenged']);
  for (let before = -1; before !== seen.size; ) {
    before = seen.size;
    for (const edge of edges) if (seen.has(edge.from) && !without(edge)) seen.add(edge.to);
  }
  return seen;
}

const isProved = ({ step }: Edge) => ['use', 'registration', 'passkey'].includes(steps[step].proof);

describe('the table of sign-in steps, over all paths', () => {
  it('reaches every state, and has no edge out of the last one', () => {
    expect([...reachable(() => false)].sort()).toEqual([...ceremonyStates].sort());
    expect(edges.filter(({ from }) => from === 'finished')).toEqual([]);
  });

  it('reaches a code only by a step with a key proof', () => {
    // `authenticate` returns these only for a proof; its own tests cover that.
    const proved = ['SUCCESS', 'MFA_REQUIRED', 'PASSKEY_ENROLLMENT_NEEDED'];
    const byDevice = ({ step, status }: Edge) => step === 'authenticate' && proved.includes(status);
    const reached = reachable((edge) => isProved(edge) || byDevice(edge));
    expect([...reached].sort()).toEqual(['challenged', 'otp_sent', 'otp_verified']);
  });

  it('registers no device before a verified address or a trusted device', () => {
    const byDevice = ({ step, status }: Edge) => step === 'authenticate' && status === 'MFA_REQUIRED';
    const reached = reachable((edge) => edge.step === 'verify-email-otp' || byDevice(edge));
    for (const edge of edges) if (edge.step === 'verify-device') expect(reached.has(edge.from)).toBe(false);
  });

  it('passes a required factor only by verify-mfa, a passkey, or the steps that an unverified factor allows', () => {
    const ways = edges.filter(({ from, to }) => from.startsWith('mfa_') && !to.startsWith('mfa_'));
    expect([...new Set(ways.map(({ step }) => step))].sort()).toEqual([
      'verify-device',
      'verify-mfa',
      'verify-passkey',
    ]);
  });

  it('adds a passkey only after a sign-in, or if the sign-in needs one', () => {
    const reached = reachable(({ to, status }) => to === 'stepped_up' || status === 'PASSKEY_ENROLLMENT_NEEDED');
    for (const edge of edges) if (edge.step === 'register-passkey') expect(reached.has(edge.from)).toBe(false);
  });

  it('changes a number only after a step-up and its code', () => {
    const reached = reachable(({ to }) => to === 'stepped_up');
    expect(reached.has('phone_code_sent')).toBe(false);
    const changing = edges.filter(({ status }) => status === 'PHONE_CHANGED');
    expect(changing.map(({ from, to }) => [from, to])).toEqual([['phone_code_sent', 'finished']]);
  });

  it('leaves a step-up only by its phone change or its passkey', () => {
    const after = new Set(['stepped_up', 'phone_code_sent']);
    for (const edge of edges) if (after.has(edge.from)) expect([...after, 'finished']).toContain(edge.to);
  });
});
