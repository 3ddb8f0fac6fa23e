import { describe, expect, it } from 'vitest';
import { LatchkeyError, type LatchkeyErrorCategory } from '../error.ts';
import { type Effect, initial, type Machine, reduce, type SignInEvent, type Transition } from './reduce.ts';

const userid = 'ada@example.com';
const now = 1_800_000_000_000;
const start = () => initial({ canUsePasskey: true });

/** Reduces events in order; returns the last transition. */
function after(events: SignInEvent[], from: Machine = start()): Transition {
  return events.reduce<Transition>(({ machine }, event) => reduce(machine, event), { machine: from });
}

const answer = (call: Effect['call'], result: object): SignInEvent =>
  ({ type: 'answered', call, result: { message: 'm', ...result }, now }) as SignInEvent;
const refusal = (
  call: Effect['call'],
  code: string,
  category: LatchkeyErrorCategory = 'user_action',
  retryAfter?: number,
) => ({ type: 'failed', call, error: new LatchkeyError(code, category, 'm', { retryAfter }), now }) as const;

const address: SignInEvent = { type: 'submit-address', userid };
const code: SignInEvent = { type: 'submit-code', otp: '123 456' };
const sent = { sentTo: 'a…@example.com', resendAfter: 30 };
const otpNeeded = answer('authenticate', { status: 'OTP_NEEDED', deviceToken: 'd', ...sent });
const verified = answer('verifyEmailOtp', { status: 'SUCCESS' });
const methods = answer('verifyDevice', { status: 'MFA_ENROLLMENT_NEEDED', methods: ['sms', 'totp'] });
const registered = answer('verifyDevice', { status: 'DEVICE_REGISTERED' });
const required = (method: string) => answer('authenticate', { status: 'MFA_REQUIRED', sessionId: 's', method });
const initiated = (method: string, more: object = {}) =>
  answer('initiateMfa', { status: 'MFA_INITIATED', method, ...more });
const success = (call: Effect['call'], more: object = {}) =>
  answer(call, { status: 'SUCCESS', success: true, code: 'c', ...more });

/** To each step. */
const paths = {
  address: [],
  code: [address, otpNeeded],
  factor: [address, required('sms'), initiated('sms', sent)],
  enrolling: [
    ...[address, otpNeeded, code, verified, methods],
    ...[{ type: 'choose-method', method: 'totp' }, registered, required('totp')],
    initiated('totp', { totp: { secret: 'S', otpauthUri: 'otpauth://x' } }),
  ],
  'recovery-code': [address, required('sms'), initiated('sms', sent), { type: 'use-recovery-code' }],
  method: [address, otpNeeded, code, verified, methods],
  phone: [
    ...[address, otpNeeded, code, verified, methods, { type: 'choose-method', method: 'sms' }],
    answer('verifyDevice', { status: 'FINALIZE_REGISTRATION_NEEDED', required: ['phone_number'] }),
  ],
  passkey: [address, required('passkey')],
  'new-passkey': [address, answer('authenticate', { status: 'PASSKEY_ENROLLMENT_NEEDED' })],
  success: [address, success('authenticate')],
  failed: [address, refusal('authenticate', 'INVALID_API_KEY', 'fatal')],
} as unknown as Record<string, SignInEvent[]>;
const at = (step: string) => after(paths[step] ?? []).machine;

/** Every transition of the table: from, action, effect, answer, next step. */
type Row = [from: string, action: SignInEvent, effect: object, answer: SignInEvent, next: string];
const rows: Row[] = [
  ['address', address, { call: 'authenticate', userid, rememberDevice: true }, otpNeeded, 'code'],
  ['address', address, { call: 'authenticate', userid }, required('passkey'), 'passkey'],
  ['address', address, { call: 'authenticate', userid }, success('authenticate'), 'success'],
  ['address', { type: 'use-passkey' }, { call: 'signInWithPasskey' }, success('signInWithPasskey'), 'success'],
  [
    'code',
    { type: 'submit-code', otp: '１２３-456' },
    { call: 'verifyEmailOtp', userid, otp: '123456' },
    verified,
    'code',
  ],
  ['factor', code, { call: 'verifyMfa', userid, otp: '123456', remember_me: true }, success('verifyMfa'), 'success'],
  ['enrolling', code, { call: 'verifyMfa', userid }, success('verifyMfa', { recoveryCodes: ['r'] }), 'success'],
  [
    'recovery-code',
    { type: 'submit-code', otp: ' abcd-efgh ' },
    { call: 'verifyMfa', otp: 'abcdefgh' },
    answer('verifyMfa', { status: 'PASSKEY_ENROLLMENT_NEEDED' }),
    'new-passkey',
  ],
  [
    'method',
    { type: 'choose-method', method: 'sms' },
    { call: 'verifyDevice', mfaMethod: 'sms' },
    registered,
    'method',
  ],
  [
    'phone',
    { type: 'submit-phone', phoneNumber: '00 49 (170) 123-4567' },
    { call: 'verifyDevice', userid, mfaMethod: 'sms', phoneNumber: '+491701234567' },
    registered,
    'phone',
  ],
  ['passkey', { type: 'use-passkey' }, { call: 'signInWithPasskey', userid }, success('signInWithPasskey'), 'success'],
  ['new-passkey', { type: 'create-passkey' }, { call: 'createPasskey', userid }, success('createPasskey'), 'success'],
];

describe('the sign-in machine', () => {
  it.each(rows)('%s: %o calls %o', (from, action, effect, result, next) => {
    const called = reduce(at(from), action);
    expect(called.effect).toMatchObject(effect);
    expect(called.machine.state).toMatchObject({ busy: true, error: undefined });
    expect(reduce(called.machine, result).machine.state.step).toBe(next);
  });

  it('verifies the device by itself after the code, and authenticates after its registration', () => {
    const one = after([code, verified], at('code'));
    expect(one.effect).toEqual({ call: 'verifyDevice', userid });
    const two = reduce(one.machine, registered);
    expect(two.effect).toMatchObject({ call: 'authenticate', userid });
    const three = reduce(two.machine, required('sms'));
    expect(three.effect).toEqual({ call: 'initiateMfa', userid, sessionId: 's' });
    expect(three.machine.state.busy).toBe(true);
  });

  it('verifies the device again, not the used code, if only the first succeeded', () => {
    const { machine } = after([code, verified, refusal('verifyDevice', 'NETWORK', 'retryable')], at('code'));
    expect(machine.state).toMatchObject({ step: 'code', busy: false, error: { code: 'NETWORK' } });
    expect(reduce(machine, code).effect).toEqual({ call: 'verifyDevice', userid });
  });

  it('ignores each action that does not belong to the step, and all but back and restart while busy', () => {
    const actions = [
      address,
      { type: 'use-passkey' },
      code,
      { type: 'resend' },
      { type: 'use-recovery-code' },
      { type: 'choose-method', method: 'sms' },
      { type: 'submit-phone', phoneNumber: '+491701234567' },
      { type: 'create-passkey' },
    ] as SignInEvent[];
    const allowed = new Set(rows.map(([from, { type }]) => `${from} ${type}`));
    for (const other of ['factor use-recovery-code', 'passkey use-recovery-code', 'code submit-code'])
      allowed.add(other);
    for (const step of Object.keys(paths)) {
      for (const action of actions) {
        const machine = at(step);
        const result = reduce(machine, action);
        const isIgnored = result.machine === machine && result.effect === undefined;
        expect([step, action.type, isIgnored]).toEqual([step, action.type, !allowed.has(`${step} ${action.type}`)]);
        const busy = { ...machine, state: { ...machine.state, busy: true } };
        expect(reduce(busy, action)).toEqual({ machine: busy });
      }
    }
  });

  it('offers only methods that the service allows', () => {
    expect(reduce(at('method'), { type: 'choose-method', method: 'email' }).effect).toBeUndefined();
  });

  it('shows the data that a prompt needs', () => {
    expect(at('code').state).toEqual({
      ...{ step: 'code', userid, method: 'address', sentTo: 'a…@example.com', resendIn: 30, codeFormat: 'digits' },
      ...{ totp: undefined, testCode: undefined, canUseRecoveryCode: false, canChooseMethod: false },
      ...{ busy: false, error: undefined },
    });
    expect(at('factor').state).toMatchObject({ method: 'sms', canUseRecoveryCode: true, canChooseMethod: false });
    expect(at('enrolling').state).toMatchObject({ totp: { secret: 'S' }, resendIn: undefined, canChooseMethod: true });
    expect(at('enrolling').state).toMatchObject({ canUseRecoveryCode: false });
    expect(at('success').state).toMatchObject({ code: 'c', userid });
  });
});

describe('errors', () => {
  it.each([
    ['code', code, 'verifyEmailOtp', 'CODE_REJECTED'],
    ['factor', code, 'verifyMfa', 'CODE_REJECTED'],
    ['recovery-code', { type: 'submit-code', otp: 'abc' }, 'verifyMfa', 'CODE_REJECTED'],
    ['phone', { type: 'submit-phone', phoneNumber: '+491701234567' }, 'verifyDevice', 'PHONE_TAKEN'],
    ['address', address, 'authenticate', 'OFFLINE'],
    ['passkey', { type: 'use-passkey' }, 'signInWithPasskey', 'PASSKEY_CANCELLED'],
  ] as [string, SignInEvent, Effect['call'], string][])('in %s do not change the step', (step, action, call, name) => {
    const { machine, effect } = after([action, refusal(call, name)], at(step));
    expect(machine.state).toMatchObject({ step: at(step).state.step, busy: false, error: { code: name } });
    expect(effect).toBeUndefined();
  });

  it.each([
    ['code', { type: 'submit-code', otp: '12345' }, 'CODE_INCOMPLETE'],
    ['recovery-code', { type: 'submit-code', otp: ' ' }, 'CODE_INCOMPLETE'],
    ['recovery-code', { type: 'submit-code', otp: 'abcde-12345 '.repeat(10) }, 'CODE_INCOMPLETE'],
    ['phone', { type: 'submit-phone', phoneNumber: '0170 1234567' }, 'PHONE_INVALID'],
  ] as [string, SignInEvent, string][])('of an incomplete input in %s use up no attempt', (step, action, name) => {
    const { machine, effect } = reduce(at(step), action);
    expect(machine.state).toMatchObject({ step, busy: false, error: { code: name } });
    expect(effect).toBeUndefined();
  });

  it('of a sign-in that has ended return to the address', () => {
    for (const name of [
      'TRANSACTION_EXPIRED',
      'APPROVAL_REQUIRED',
      'OUT_OF_ORDER',
      'DEVICE_REVOKED',
      'PROOF_REJECTED',
    ]) {
      const { machine } = after([code, refusal('verifyMfa', name, 'fatal')], at('factor'));
      expect(machine.state).toMatchObject({ step: 'address', userid, error: { code: name } });
    }
  });

  it('that are fatal end the sign-in, which can be restarted', () => {
    expect(at('failed').state).toMatchObject({ step: 'failed', error: { code: 'INVALID_API_KEY' } });
    expect(reduce(at('failed'), { type: 'restart' }).machine.state.step).toBe('address');
  });

  it('of a malformed address ask for it again', () => {
    const { machine } = after([address, answer('authenticate', { status: 'INVALID_EMAIL' })]);
    expect(machine.state).toMatchObject({ step: 'address', error: { code: 'INVALID_EMAIL', category: 'user_action' } });
  });

  it('of a factor that cannot be used now ask for a recovery code, except while enrolling', () => {
    const locked = refusal('initiateMfa', 'RATE_LIMITED', 'retryable', 60);
    expect(after([address, required('sms'), locked]).machine.state).toMatchObject({
      step: 'recovery-code',
      error: { code: 'RATE_LIMITED' },
    });
    const enrolling = [{ type: 'choose-method', method: 'sms' }, registered, required('sms'), locked] as SignInEvent[];
    expect(after(enrolling, at('method')).machine.state).toMatchObject({
      step: 'method',
      error: { code: 'RATE_LIMITED' },
    });
  });

  it('hide passkeys if they cannot be used', () => {
    const { machine } = after([{ type: 'use-passkey' }, refusal('signInWithPasskey', 'PASSKEY_UNSUPPORTED', 'fatal')]);
    expect(machine.state).toMatchObject({
      step: 'address',
      canUsePasskey: false,
      error: { code: 'PASSKEY_UNSUPPORTED' },
    });
    expect(after([address, { type: 'restart' }], machine).machine.state).toMatchObject({ canUsePasskey: false });
  });

  it('of a device that has a passkey already use it', () => {
    const { effect } = after(
      [{ type: 'create-passkey' }, refusal('createPasskey', 'PASSKEY_EXISTS')],
      at('new-passkey'),
    );
    expect(effect).toEqual({ call: 'signInWithPasskey', userid });
  });

  it('are not shown for an aborted operation', () => {
    const { machine } = after([address, refusal('authenticate', 'ABORTED')]);
    expect(machine.state).toMatchObject({ step: 'address', busy: false, error: undefined });
  });
});

describe('another code', () => {
  const resend: SignInEvent = { type: 'resend' };

  it('can be requested when the countdown has ended', () => {
    expect(reduce(at('code'), resend).effect).toBeUndefined();
    const later = reduce(at('code'), { type: 'tick', now: now + 12_400 }).machine;
    expect(later.state).toMatchObject({ resendIn: 18 });
    const ended = reduce(later, { type: 'tick', now: now + 31_000 }).machine;
    expect(ended.state).toMatchObject({ resendIn: 0 });
    expect(reduce(ended, resend).effect).toMatchObject({ call: 'authenticate', userid });
    const factor = reduce(at('factor'), { type: 'tick', now: now + 31_000 }).machine;
    expect(reduce(factor, resend).effect).toEqual({ call: 'initiateMfa', userid, sessionId: 's' });
  });

  it('waits as long as the service says', () => {
    const ended = reduce(at('code'), { type: 'tick', now: now + 31_000 }).machine;
    const { machine } = after([resend, refusal('authenticate', 'RATE_LIMITED', 'retryable', 90)], ended);
    expect(machine.state).toMatchObject({ step: 'code', resendIn: 90, error: { code: 'RATE_LIMITED' } });
  });

  it('is not counted again for the same second', () => {
    const machine = at('code');
    expect(reduce(machine, { type: 'tick', now: now + 10 }).machine).toBe(machine);
  });
});

describe('back', () => {
  it.each([
    ['recovery-code', 'code'],
    ['phone', 'method'],
    ['enrolling', 'method'],
    ['code', 'address'],
    ['factor', 'address'],
    ['method', 'address'],
    ['passkey', 'address'],
    ['new-passkey', 'address'],
    ['failed', 'address'],
    ['success', 'success'],
  ])('leads from %s to %s', (from, to) => {
    expect(reduce(at(from), { type: 'back' }).machine.state).toMatchObject({ step: to, busy: false, error: undefined });
  });

  it('aborts the request in progress', () => {
    expect(after([code, { type: 'back' }], at('code')).effect).toBe('abort');
  });
});

describe('the user who last signed in', () => {
  it('fills in an address that the user did not type', () => {
    const remembered = { type: 'remembered', userid } as const;
    expect(reduce(start(), remembered).machine.state).toMatchObject({ step: 'address', userid });
    const typed = initial({ userid: 'grace@example.com', canUsePasskey: false });
    expect(reduce(typed, remembered).machine.state).toMatchObject({ userid: 'grace@example.com' });
    expect(after([address, remembered]).machine.state).toMatchObject({ busy: true, userid });
  });
});
