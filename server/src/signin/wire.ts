import {
  authenticateRequest,
  changePhoneNumberRequest,
  initiateMfaRequest,
  passkeyOptionsRequest,
  passkeyResponseRequest,
  type ResumeResponse,
  type SigninResponses,
  type Success as SuccessOnWire,
  verifyDeviceRequest,
  verifyEmailOtpRequest,
  verifyMfaRequest,
  verifyPhoneNumberRequest,
} from '@latchkey/contracts';
import type { StepInput } from '../domain/ceremonies/flow.ts';
import type { Resumed, SentCode } from '../domain/ceremonies/resume.ts';
import type { Answers, CeremonyStep, Success } from '../domain/ceremonies/steps/steps.ts';
import { parseStrictJson } from '../domain/credentials/strict-json.ts';
import { UnreadableRequest } from './signin-error.ts';

type Fields = Omit<StepInput, 'proof' | 'body'>;

const readers: { [S in CeremonyStep]: (json: unknown) => Fields } = {
  authenticate: (json) => {
    const { txn, userid, remember_device, step_up } = checked(authenticateRequest, json);
    return { txn, userid, rememberDevice: remember_device, stepUp: step_up };
  },
  'verify-email-otp': (json) => checked(verifyEmailOtpRequest, json),
  'verify-device': (json) => {
    const { txn, userid, mfa_method, phone_number } = checked(verifyDeviceRequest, json);
    return { txn, userid, mfaMethod: mfa_method, phoneNumber: phone_number };
  },
  'initiate-mfa': (json) => {
    const { txn, userid, session_id } = checked(initiateMfaRequest, json);
    return { txn, userid, sessionId: session_id };
  },
  'verify-mfa': (json) => {
    const { txn, userid, otp, remember_me } = checked(verifyMfaRequest, json);
    return { txn, userid, otp, rememberMe: remember_me };
  },
  'change-phone-number': (json) => {
    const { txn, userid, phone_number } = checked(changePhoneNumberRequest, json);
    return { txn, userid, phoneNumber: phone_number };
  },
  'verify-phone-number': (json) => checked(verifyPhoneNumberRequest, json),
  'passkey-options': (json) => checked(passkeyOptionsRequest, json),
  'verify-passkey': (json) => checked(passkeyResponseRequest, json),
  'register-passkey': (json) => checked(passkeyResponseRequest, json),
};

/** Parses the input of a step. Throws {@link UnreadableRequest}. */
export function readStep(step: CeremonyStep, json: unknown): Fields {
  return readers[step](json);
}

/** The transaction of a step; empty if it has none. */
export function txnOf(json: unknown): string {
  return passkeyOptionsRequest.pick({ txn: true }).safeParse(json).data?.txn ?? '';
}

interface Schema<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
}

/** Parses and validates. The refusal names the field and the rule, never the value. */
export function checked<T>(schema: Schema<T>, json: unknown): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue && issue.path.length > 0 ? issue.path.map(String).join('.') : 'The body';
  throw new UnreadableRequest(400, `${field}: ${issue?.message ?? 'is malformed'}.`);
}

/** Strict JSON: valid UTF-8, no duplicate members. A null member counts as absent. Throws {@link UnreadableRequest}. */
export function readJson(body: Uint8Array): unknown {
  try {
    const json = parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return json;
    return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
  } catch {
    throw new UnreadableRequest(400, 'The body must be UTF-8 JSON without duplicate members.');
  }
}

const messages: Record<Answers[CeremonyStep]['status'], string> = {
  SUCCESS: 'Done.',
  OTP_NEEDED: 'A code is on its way, if this address can sign in here.',
  MFA_REQUIRED: 'A second factor is needed. Call initiateMfa; for a passkey, passkey-options and verify-passkey.',
  INVALID_EMAIL: 'This is not an email address.',
  DEVICE_REGISTERED: 'The device is registered. Call authenticate again.',
  MFA_ENROLLMENT_NEEDED: 'A second factor must be set up. Call verifyDevice again with one of the methods.',
  FINALIZE_REGISTRATION_NEEDED: 'The chosen method needs more data. Call verifyDevice again with the required fields.',
  MFA_INITIATED: 'The second factor was started. Call verifyMfa with its code.',
  PHONE_CODE_SENT: 'A code was sent to the new number. Call verifyPhoneNumber with it.',
  PHONE_CHANGED: 'The phone number was changed.',
  PASSKEY_ENROLLMENT_NEEDED: 'A passkey is required. Create one: the sign-in then ends.',
  PASSKEY_OPTIONS: 'Ask the browser for a passkey with these options.',
  PASSKEY_REGISTERED: 'The passkey was added.',
};

/** The response of a step in wire names (shared/contracts). */
export function writeAnswer(
  step: CeremonyStep,
  answer: Answers[CeremonyStep] & { nonce: string },
  redirectTo: string | null,
): SigninResponses[CeremonyStep] {
  const { nonce } = answer;
  const rest = { message: messages[answer.status], nonce };
  switch (answer.status) {
    case 'SUCCESS':
      if (step === 'verify-email-otp')
        return { status: 'SUCCESS', message: 'The address is verified. Call verifyDevice.', nonce };
      return { ...writeSuccess(answer as Success, redirectTo, rest.message), nonce };
    case 'OTP_NEEDED':
      return {
        status: answer.status,
        device_token: answer.deviceToken,
        sent_to: answer.sentTo,
        resend_after: answer.resendAfterSeconds,
        ...(answer.codeFormat && { code_format: answer.codeFormat }),
        ...(answer.code !== undefined && { code: answer.code }),
        ...rest,
      };
    case 'MFA_REQUIRED':
      return { status: answer.status, session_id: answer.sessionId, method: answer.method, ...rest };
    case 'MFA_INITIATED':
      return {
        status: answer.status,
        method: answer.method,
        ...(answer.sentTo !== undefined && { sent_to: answer.sentTo }),
        ...(answer.resendAfterSeconds !== undefined && { resend_after: answer.resendAfterSeconds }),
        ...(answer.totp && { totp: { secret: answer.totp.secret, otpauth_uri: answer.totp.otpauthUri } }),
        ...(answer.code !== undefined && { code: answer.code }),
        ...rest,
      };
    case 'MFA_ENROLLMENT_NEEDED':
      return { status: answer.status, methods: answer.methods, ...rest };
    case 'FINALIZE_REGISTRATION_NEEDED':
      return { status: answer.status, required: answer.required, ...rest };
    case 'PHONE_CODE_SENT':
      return {
        status: answer.status,
        sent_to: answer.sentTo,
        resend_after: answer.resendAfterSeconds,
        ...(answer.code !== undefined && { code: answer.code }),
        ...rest,
      };
    case 'PASSKEY_OPTIONS':
      return { status: answer.status, options: answer.options, ...rest };
    case 'PASSKEY_REGISTERED': {
      const { name, rpId, userHandle, credentialIds } = answer;
      const signal = { rp_id: rpId, user_handle: userHandle, credential_ids: credentialIds };
      return { status: answer.status, name, ...signal, ...rest };
    }
    case 'DEVICE_REGISTERED':
    case 'PASSKEY_ENROLLMENT_NEEDED':
    case 'INVALID_EMAIL':
    case 'PHONE_CHANGED':
      return { status: answer.status, ...rest };
  }
}

function writeSuccess(success: Success, redirectTo: string | null, message: string): SuccessOnWire {
  const codes = success.recoveryCodes && { recovery_codes: success.recoveryCodes };
  const offer = success.offersPasskey && { passkey_offer: true as const };
  if ('code' in success) return { status: 'SUCCESS', message, code: success.code, ...codes };
  return { status: 'SUCCESS', message, redirect_to: redirectTo ?? '', ...codes, ...offer };
}

/** The pending sign-in of a reloaded page in wire names. @param redirectTo where it leads when it has ended */
export function writeResumed(resumed: Resumed | null, redirectTo: string): ResumeResponse {
  if (!resumed) return { status: 'NOTHING_PENDING' };
  const { txn, nonce, expiresInSeconds, nowSeconds, userid, jkt, rememberDevice, prompt } = resumed;
  return {
    status: 'PENDING',
    ...{ txn, nonce, expires_in: expiresInSeconds, time: nowSeconds },
    ...{ userid, jkt, remember_device: rememberDevice, prompt: writePrompt(prompt, redirectTo) },
  };
}

function writePrompt(
  prompt: Resumed['prompt'],
  redirectTo: string,
): Extract<ResumeResponse, { status: 'PENDING' }>['prompt'] {
  switch (prompt.status) {
    case 'OTP_NEEDED': {
      const { status, codeFormat } = prompt;
      return { status, ...writeSent(prompt), ...(codeFormat && { code_format: codeFormat }) };
    }
    case 'MFA_REQUIRED': {
      const { status, sessionId, method, methods } = prompt;
      return { status, session_id: sessionId, method, ...(methods && { methods }) };
    }
    case 'MFA_INITIATED': {
      const { status, sessionId, method, methods, sent, totp } = prompt;
      return {
        ...{ status, session_id: sessionId, method, ...(methods && { methods }) },
        ...(sent && writeSent(sent)),
        ...(totp && { totp: { secret: totp.secret, otpauth_uri: totp.otpauthUri } }),
      };
    }
    case 'PASSKEY_OFFERED':
      return { status: prompt.status, redirect_to: redirectTo };
    default:
      return { status: prompt.status };
  }
}

function writeSent({ sentTo, sentAt, resendAfterSeconds }: SentCode) {
  return { sent_to: sentTo, sent_at: sentAt, resend_after: resendAfterSeconds };
}
