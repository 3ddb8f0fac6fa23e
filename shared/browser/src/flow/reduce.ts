import { LatchkeyError } from '../error.ts';
import type {
  AuthenticateResult,
  CreatePasskeyResult,
  InitiateMfaResult,
  MfaMethod,
  SignInWithPasskeyResult,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
} from '../results.ts';
import { asCode, asPhoneNumber } from './inputs.ts';
import type { SignInAction, SignInState, StartOptions } from './state.ts';

/** An operation that the driver calls; its result, or error, is the next event. */
export type Effect =
  | { call: 'authenticate'; userid: string; rememberDevice: boolean }
  | { call: 'verifyEmailOtp'; userid: string; otp: string }
  | { call: 'verifyDevice'; userid: string; mfaMethod?: MfaMethod; phoneNumber?: string }
  | { call: 'initiateMfa'; userid: string; sessionId: string }
  | { call: 'verifyMfa'; userid: string; otp: string; remember_me: boolean }
  | { call: 'signInWithPasskey'; userid?: string }
  | { call: 'createPasskey'; userid: string };

type Answered = { type: 'answered'; now: number } & (
  | { call: 'authenticate'; result: AuthenticateResult }
  | { call: 'verifyEmailOtp'; result: VerifyEmailOtpResult }
  | { call: 'verifyDevice'; result: VerifyDeviceResult }
  | { call: 'initiateMfa'; result: InitiateMfaResult }
  | { call: 'verifyMfa'; result: VerifyMfaResult }
  | { call: 'signInWithPasskey'; result: SignInWithPasskeyResult }
  | { call: 'createPasskey'; result: CreatePasskeyResult }
);
type Failed = { type: 'failed'; call: Effect['call']; error: LatchkeyError; now: number };

export type SignInEvent =
  | SignInAction
  | Answered
  | Failed
  /** The user who last signed in here. */
  | { type: 'remembered'; userid: string }
  /** The user has chosen a passkey in the suggestions of the address field. */
  | { type: 'passkey-chosen' }
  /** This page cannot use passkeys. */
  | { type: 'no-passkeys' }
  /** `now`: milliseconds since 1970. */
  | { type: 'tick'; now: number };

/** A state, with data that its prompt does not show. */
export type Machine = {
  state: SignInState;
  rememberDevice: boolean;
  canUsePasskey: boolean;
  /** The `session_id` of MFA_REQUIRED. */
  sessionId: string;
  /** The second factor that a code was requested for. */
  method: MfaMethod | undefined;
  /** Methods to enroll; empty if none is being enrolled. */
  methods: MfaMethod[];
  /** The address is verified, and `verifyDevice` has not succeeded yet. */
  verified: boolean;
  /** Milliseconds since 1970. */
  resendAt: number;
  /** The prompt that a recovery code replaces. */
  replaced: SignInState | undefined;
};

/** @param effect `abort`: ends the operation in progress */
export type Transition = { machine: Machine; effect?: Effect | 'abort' };

export function initial(
  options: Pick<StartOptions, 'userid' | 'rememberDevice'> & { canUsePasskey: boolean },
): Machine {
  const { userid = '', rememberDevice = true, canUsePasskey } = options;
  return {
    state: { step: 'address', userid, canUsePasskey, busy: false, error: undefined },
    rememberDevice,
    canUsePasskey,
    sessionId: '',
    method: undefined,
    methods: [],
    verified: false,
    resendAt: 0,
    replaced: undefined,
  };
}

/** The transition of `event`: pure, so that it can be tested without a page or a service. */
export function reduce(machine: Machine, event: SignInEvent): Transition {
  const { state } = machine;
  switch (event.type) {
    case 'answered':
      return answered(machine, event);
    case 'failed':
      return failed(machine, event);
    case 'tick':
      return { machine: counted(machine, event.now) };
    case 'remembered':
      if (state.step !== 'address' || state.busy || state.userid) return { machine };
      return { machine: { ...machine, state: { ...state, userid: event.userid } } };
    case 'passkey-chosen':
      return { machine: { ...machine, state: { ...state, busy: true, error: undefined } } };
    case 'no-passkeys':
      return { machine: without(machine) };
    case 'restart':
      return restarted(machine);
    case 'back':
      return stepBack(machine);
    default:
      return state.busy ? { machine } : acted(machine, event);
  }
}

type Acting = Exclude<SignInAction, { type: 'back' | 'restart' }>;

function acted(machine: Machine, action: Acting): Transition {
  const { state } = machine;
  const { userid } = state;
  switch (action.type) {
    case 'submit-address': {
      if (state.step !== 'address') break;
      const rememberDevice = action.rememberDevice ?? machine.rememberDevice;
      const named = {
        ...machine,
        rememberDevice,
        methods: [],
        verified: false,
        state: { ...state, userid: action.userid },
      };
      return calling(named, { call: 'authenticate', userid: action.userid, rememberDevice });
    }
    case 'use-passkey':
      if (state.step === 'address') return calling(machine, { call: 'signInWithPasskey' });
      if (state.step === 'passkey') return calling(machine, { call: 'signInWithPasskey', userid });
      break;
    case 'submit-code':
      return submitted(machine, action.otp);
    case 'resend':
      if (state.step !== 'code' || state.resendIn !== 0) break;
      return calling(machine, state.method === 'address' ? authenticating(machine) : initiating(machine));
    case 'use-recovery-code':
      if (state.step !== 'passkey' && !(state.step === 'code' && state.canUseRecoveryCode)) break;
      return { machine: { ...machine, replaced: state, state: prompt({ step: 'recovery-code', userid }) } };
    case 'choose-method':
      if (state.step !== 'method' || !state.methods.includes(action.method)) break;
      return calling(machine, { call: 'verifyDevice', userid, mfaMethod: action.method });
    case 'submit-phone': {
      if (state.step !== 'phone') break;
      const phoneNumber = asPhoneNumber(action.phoneNumber);
      if (phoneNumber instanceof LatchkeyError) return wrong(machine, phoneNumber);
      return calling(machine, { call: 'verifyDevice', userid, mfaMethod: 'sms', phoneNumber });
    }
    case 'create-passkey':
      if (state.step === 'new-passkey') return calling(machine, { call: 'createPasskey', userid });
  }
  return { machine };
}

function submitted(machine: Machine, typed: string): Transition {
  const { state } = machine;
  const { userid } = state;
  if (state.step !== 'code' && state.step !== 'recovery-code') return { machine };
  const otp = asCode(typed, state.step === 'code' ? state.codeFormat : 'recovery');
  if (otp instanceof LatchkeyError) return wrong(machine, otp);
  if (state.step === 'recovery-code' || state.method !== 'address')
    return calling(machine, { call: 'verifyMfa', userid, otp, remember_me: machine.rememberDevice });
  return calling(
    machine,
    machine.verified ? { call: 'verifyDevice', userid } : { call: 'verifyEmailOtp', userid, otp },
  );
}

function answered(machine: Machine, event: Answered): Transition {
  const { userid } = machine.state;
  switch (event.call) {
    case 'authenticate':
      return authenticated(machine, event.result, event.now);
    case 'verifyEmailOtp':
      return calling({ ...machine, verified: true }, { call: 'verifyDevice', userid });
    case 'verifyDevice':
      return registered({ ...machine, verified: false }, event.result);
    case 'initiateMfa':
      return initiated(machine, event.result, event.now);
    case 'verifyMfa':
    case 'signInWithPasskey':
      return ended(machine, event.result);
    case 'createPasskey':
      if (event.result.status === 'SUCCESS') return ended(machine, event.result);
  }
  return { machine };
}

function authenticated(machine: Machine, answer: AuthenticateResult, now: number): Transition {
  const { userid } = machine.state;
  switch (answer.status) {
    case 'INVALID_EMAIL': {
      const state = addressOf(machine, new LatchkeyError('INVALID_EMAIL', 'user_action', answer.message));
      return { machine: { ...machine, state } };
    }
    case 'OTP_NEEDED':
      return asked({ ...machine, verified: false }, { ...answer, method: 'address' }, now);
    case 'MFA_REQUIRED': {
      const next = { ...machine, sessionId: answer.sessionId };
      if (answer.method === 'passkey') return { machine: { ...next, state: prompt({ step: 'passkey', userid }) } };
      return calling({ ...next, method: answer.method }, initiating(next));
    }
    default:
      return ended(machine, answer);
  }
}

function registered(machine: Machine, answer: VerifyDeviceResult): Transition {
  const { userid } = machine.state;
  switch (answer.status) {
    case 'DEVICE_REGISTERED':
      return calling(machine, authenticating(machine));
    case 'MFA_ENROLLMENT_NEEDED': {
      const { methods } = answer;
      return { machine: { ...machine, methods, state: prompt({ step: 'method', userid, methods }) } };
    }
    case 'FINALIZE_REGISTRATION_NEEDED':
      return { machine: { ...machine, state: prompt({ step: 'phone', userid }) } };
    default:
      return ended(machine, answer);
  }
}

const initiated = (machine: Machine, answer: InitiateMfaResult, now: number): Transition =>
  asked({ ...machine, method: answer.method }, answer, now);

/** Asks for a one-time code that was just sent, or for one of an authenticator app. */
function asked(
  machine: Machine,
  sent: Partial<Omit<InitiateMfaResult, 'method' | 'status'>> & { method: 'address' | MfaMethod },
  now: number,
): Transition {
  const { method, sentTo, resendAfter, codeFormat = 'digits', totp, code: testCode } = sent;
  const isEnrolling = machine.methods.length > 0 && method !== 'address';
  const state: SignInState = {
    step: 'code',
    userid: machine.state.userid,
    method,
    sentTo,
    resendIn: resendAfter,
    codeFormat,
    totp,
    testCode,
    canUseRecoveryCode: method !== 'address' && !isEnrolling,
    canChooseMethod: isEnrolling,
    busy: false,
    error: undefined,
  };
  return { machine: { ...machine, resendAt: now + (resendAfter ?? 0) * 1000, state } };
}

type Ending = { status: 'PASSKEY_ENROLLMENT_NEEDED' } | Extract<VerifyMfaResult, { status: 'SUCCESS' }>;

function ended(machine: Machine, answer: Ending): Transition {
  const { userid } = machine.state;
  if (answer.status !== 'SUCCESS') return { machine: { ...machine, state: prompt({ step: 'new-passkey', userid }) } };
  const { code, codeVerifier, recoveryCodes } = answer;
  return { machine: { ...machine, state: prompt({ step: 'success', userid, code, codeVerifier, recoveryCodes }) } };
}

/** Errors after which the sign-in begins again. */
const restarts = [
  'TRANSACTION_EXPIRED',
  'APPROVAL_REQUIRED',
  'OUT_OF_ORDER',
  'DEVICE_KEY_LOST',
  'DEVICE_REVOKED',
  'NONCE_REJECTED',
  'PROOF_REQUIRED',
  'PROOF_REJECTED',
];
/** Whether a sign-in without a passkey avoids the error. */
export const isAvoidable = ({ code }: LatchkeyError): boolean =>
  ['PASSKEY_UNSUPPORTED', 'PASSKEYS_NOT_ALLOWED'].includes(code);

function failed(given: Machine, { call, error, now }: Failed): Transition {
  const machine = isAvoidable(error) ? without(given) : given;
  const { state } = machine;
  const { userid } = state;
  if (error.code === 'ABORTED') return { machine: { ...machine, state: { ...state, busy: false } } };
  if (call === 'createPasskey' && error.code === 'PASSKEY_EXISTS')
    return calling(machine, { call: 'signInWithPasskey', userid });
  if (restarts.includes(error.code))
    return { machine: { ...machine, verified: false, state: addressOf(machine, error) } };
  if (error.category === 'fatal' && !isAvoidable(error))
    return { machine: { ...machine, state: { ...prompt({ step: 'failed', userid }), error } } };
  // The factor cannot be used now: no code can be sent.
  if (call === 'initiateMfa' && state.step !== 'code' && machine.methods.length === 0)
    return {
      machine: { ...machine, replaced: undefined, state: { ...prompt({ step: 'recovery-code', userid }), error } },
    };
  const kept = wrong(machine, error).machine;
  if (error.code !== 'RATE_LIMITED' || state.step !== 'code' || !error.retryAfter) return { machine: kept };
  return { machine: counted({ ...kept, resendAt: now + Math.min(error.retryAfter, 3600) * 1000 }, now) };
}

/** Sets the seconds until another code may be requested. */
function counted(machine: Machine, now: number): Machine {
  const { resendAt, state } = machine;
  if (state.step !== 'code' || state.resendIn === undefined) return machine;
  const resendIn = Math.max(0, Math.ceil((resendAt - now) / 1000));
  return resendIn === state.resendIn ? machine : { ...machine, state: { ...state, resendIn } };
}

function stepBack(machine: Machine): Transition {
  const { state, replaced, methods } = machine;
  const { userid } = state;
  const isEnrolling = state.step === 'phone' || (state.step === 'code' && state.canChooseMethod);
  const before =
    state.step === 'recovery-code' ? replaced : isEnrolling ? prompt({ step: 'method', userid, methods }) : undefined;
  if (!before) return restarted(machine);
  return { machine: { ...machine, state: { ...before, busy: false, error: undefined } }, effect: 'abort' };
}

function restarted(machine: Machine): Transition {
  if (machine.state.step === 'success') return { machine };
  return { machine: { ...machine, methods: [], verified: false, state: addressOf(machine) }, effect: 'abort' };
}

function addressOf({ canUsePasskey, state: { userid } }: Machine, error?: LatchkeyError): SignInState {
  return { step: 'address', userid, canUsePasskey, busy: false, error };
}

/** A page that cannot use passkeys. */
function without(machine: Machine): Machine {
  const { state } = machine;
  const hidden = state.step === 'address' ? { ...state, canUsePasskey: false } : state;
  return { ...machine, canUsePasskey: false, state: hidden };
}

const authenticating = ({ rememberDevice, state: { userid } }: Machine): Effect => ({
  call: 'authenticate',
  userid,
  rememberDevice,
});
const initiating = ({ sessionId, state: { userid } }: Machine): Effect => ({ call: 'initiateMfa', userid, sessionId });

const calling = (machine: Machine, effect: Effect): Transition => ({
  machine: { ...machine, state: { ...machine.state, busy: true, error: undefined } },
  effect,
});

const wrong = (machine: Machine, error: LatchkeyError): Transition => ({
  machine: { ...machine, state: { ...machine.state, busy: false, error } },
});

type Idle = { busy: false; error: undefined };
const prompt = <const T>(shown: T): T & Idle => ({ ...shown, busy: false, error: undefined });
