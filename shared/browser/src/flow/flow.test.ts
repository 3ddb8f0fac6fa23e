import { afterEach, describe, expect, it, vi } from 'vitest';
import { chosen, stubAuthenticator } from '../../test/authenticator.ts';
import { code, firstSignIn, nowMilliseconds, ok, otpAccepted, otpNeeded, soon, startPages } from '../../test/pages.ts';
import { challengeBody, refusal } from '../../test/service.ts';
import { startSignIn } from './flow.ts';
import type { SignIn, SignInState, StartOptions } from './state.ts';

const userid = 'ada@example.com';
const stops: (() => unknown)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const stop of stops.splice(0)) await stop();
});

async function setUp(replies: Parameters<typeof startPages>[0], options: StartOptions = {}) {
  const pages = await startPages(replies);
  stops.push(pages.service.stop);
  const begin = (given = options) => {
    const signIn = startSignIn(pages.page(), given, () => nowMilliseconds);
    stops.push(() => signIn.stop());
    return signIn;
  };
  return { ...pages, begin, signIn: begin() };
}

/** Waits for a step without a request in flight. */
async function reached<Step extends SignInState['step']>(signIn: SignIn, step: Step) {
  await expect.poll(() => [signIn.state.step, signIn.state.busy], soon).toEqual([step, false]);
  return signIn.state as Extract<SignInState, { step: Step }>;
}

describe('a started sign-in', () => {
  it('goes from address to code, and reports each state', async () => {
    const { signIn, begin } = await setUp(firstSignIn);
    const seen: string[] = [];
    const end = signIn.onStateChange(({ step, busy }) => seen.push(`${step}${busy ? ' busy' : ''}`));
    signIn.send({ type: 'submit-address', userid });
    expect(await reached(signIn, 'code')).toMatchObject({ sentTo: 'A…@Example.com', resendIn: 30 });
    signIn.send({ type: 'submit-code', otp: '123456' });
    expect(await reached(signIn, 'success')).toMatchObject({ code: 'authorization-code', userid });
    expect(seen).toEqual(['address busy', 'code', 'code busy', 'code busy', 'success']);
    end();
    // The next sign-in on this browser is prefilled with the user.
    await expect.poll(() => begin().state, soon).toMatchObject({ step: 'address' });
    const next = begin();
    await expect.poll(() => next.state.userid, soon).toBe(userid);
  });

  it('makes no call that a listener has ended before', () => {
    const signals: AbortSignal[] = [];
    const authenticate = (_: string, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const signIn = startSignIn({ authenticate } as never, { userid }, () => nowMilliseconds);
    signIn.onStateChange(({ busy }) => busy && signIn.send({ type: 'restart' }));
    signIn.send({ type: 'submit-address', userid });
    expect(signIn.state).toMatchObject({ step: 'address', busy: false });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('enrolls a second factor', async () => {
    const methods = ok('nonce-3', { status: 'MFA_ENROLLMENT_NEEDED', methods: ['totp'] });
    const registered = ok('nonce-4', { status: 'DEVICE_REGISTERED' });
    const required = ok('nonce-5', { status: 'MFA_REQUIRED', session_id: 's', method: 'totp' });
    const totp = { secret: 'S', otpauth_uri: 'otpauth://totp/x' };
    const { service, signIn } = await setUp({
      ...firstSignIn,
      authenticate: [otpNeeded, required],
      'verify-device': [methods, registered],
      'initiate-mfa': [ok('nonce-6', { status: 'MFA_INITIATED', method: 'totp', totp })],
      'verify-mfa': [ok('nonce-7', { status: 'SUCCESS', code: 'c', recovery_codes: ['r'] })],
    });
    signIn.send({ type: 'submit-address', userid, rememberDevice: false });
    await reached(signIn, 'code');
    signIn.send({ type: 'submit-code', otp: '123456' });
    expect(await reached(signIn, 'method')).toMatchObject({ methods: ['totp'] });
    signIn.send({ type: 'choose-method', method: 'totp' });
    expect(await reached(signIn, 'code')).toMatchObject({ method: 'totp', totp: { otpauthUri: totp.otpauth_uri } });
    signIn.send({ type: 'submit-code', otp: '654321' });
    expect(await reached(signIn, 'success')).toMatchObject({ recoveryCodes: ['r'] });
    expect(service.of('verify-mfa')[0]?.body).toMatchObject({ otp: '654321', remember_me: false });
    expect(service.of('authenticate').map(({ body }) => body['remember_device'])).toEqual([false, false]);
  });

  it('shows a refusal as a state, and continues', async () => {
    const { signIn } = await setUp({
      ...firstSignIn,
      'verify-email-otp': [refusal('CODE_REJECTED', 400, {}, 'nonce-2'), otpAccepted],
    });
    signIn.send({ type: 'submit-address', userid });
    await reached(signIn, 'code');
    signIn.send({ type: 'submit-code', otp: '000000' });
    await expect.poll(() => signIn.state.error?.code, soon).toBe('CODE_REJECTED');
    signIn.send({ type: 'submit-code', otp: '123456' });
    await reached(signIn, 'success');
  });

  it('counts the seconds until another code may be sent', async () => {
    const pages = await startPages(firstSignIn);
    stops.push(pages.service.stop);
    let now = nowMilliseconds;
    const ticks: (() => void)[] = [];
    vi.stubGlobal('setInterval', (tick: () => void) => ticks.push(tick));
    const signIn = startSignIn(pages.page(), {}, () => now);
    stops.push(() => signIn.stop());
    signIn.send({ type: 'submit-address', userid });
    await vi.waitFor(() => expect(signIn.state).toMatchObject({ step: 'code', resendIn: 30 }), soon);
    expect(ticks).toHaveLength(1);
    now += 10_000;
    ticks[0]?.();
    expect(signIn.state).toMatchObject({ resendIn: 20 });
    now += 20_000;
    ticks[0]?.();
    expect(signIn.state).toMatchObject({ resendIn: 0 });
    signIn.send({ type: 'resend' });
    await vi.waitFor(() => expect(signIn.state).toMatchObject({ busy: false, resendIn: 30 }), soon);
    expect(pages.service.of('authenticate')).toHaveLength(2);
  });

  it('ends its requests when it is stopped or restarted', async () => {
    const { signIn } = await setUp({ ...firstSignIn, authenticate: [{ hang: true, body: '' }] });
    signIn.send({ type: 'submit-address', userid });
    expect(signIn.state.busy).toBe(true);
    signIn.send({ type: 'restart' });
    expect(signIn.state).toMatchObject({ step: 'address', busy: false, userid, error: undefined });
    signIn.send({ type: 'submit-address', userid });
    signIn.stop();
    const { state } = signIn;
    signIn.send({ type: 'restart' });
    expect(signIn.state).toBe(state);
  });

  it('signs in with a passkey of the address field’s suggestions', async () => {
    const passkeys = stubAuthenticator({ get: chosen });
    const { signIn } = await setUp(
      {
        challenge: [{ body: { ...challengeBody, passkey_options: { challenge: 'x', rpId: 'r' } } }],
        'verify-passkey': [code],
      },
      { suggestPasskeys: true },
    );
    await reached(signIn, 'success');
    expect(passkeys.requests[0]?.mediation).toBe('conditional');
  });

  it('offers no passkeys if the project has none', async () => {
    stubAuthenticator();
    const { signIn, service } = await setUp({}, { suggestPasskeys: true });
    expect(signIn.state).toMatchObject({ step: 'address', canUsePasskey: true });
    await expect.poll(() => signIn.state, soon).toMatchObject({ canUsePasskey: false, error: undefined });
    expect(service.received.map(({ step }) => step)).toEqual(['challenge']);
  });
});
