import { expect } from 'vitest';
import { LatchkeyError } from '../src/error.ts';
import { Signin } from '../src/signin/signin.ts';
import { memoryStore } from './memory-store.ts';
import { startService } from './service.ts';

/** Limit of a wait for a condition, with time for a busy machine. */
export const soon = { timeout: 60_000, interval: 20 };

export const origin = 'https://app.example.com';
export const nowMilliseconds = 1_800_000_000_000;
export const userid = 'Ada@Example.com';

/** A success response of the service. */
export const ok = (nonce: string, body: Record<string, unknown>) => ({ body: { message: 'm', nonce, ...body } });
export const otpNeeded = ok('nonce-1', {
  status: 'OTP_NEEDED',
  device_token: 'dt',
  sent_to: 'A…@Example.com',
  resend_after: 30,
});
export const otpAccepted = ok('nonce-2', { status: 'SUCCESS' });
export const code = ok('nonce-9', { status: 'SUCCESS', code: 'authorization-code' });
export const firstSignIn = { authenticate: [otpNeeded], 'verify-email-otp': [otpAccepted], 'verify-device': [code] };

/** Pages of one browser, connected to a service with these replies. */
export async function startPages(
  replies: Parameters<typeof startService>[0],
  { store = memoryStore(), timeoutMs = 15_000 } = {},
) {
  const service = await startService(replies);
  const headers = { 'X-Api-Key': 'lk_pk_test' };
  const connection = { baseUrl: service.baseUrl, headers, credentials: 'omit' as const, timeoutMs };
  const page = () => new Signin({ connection, store, origin, now: () => nowMilliseconds });
  return { service, store, page, signin: page() };
}

/** The error that an operation rejects with. */
export async function failure(promise: Promise<unknown>): Promise<LatchkeyError> {
  const error = await promise.then(
    () => new Error('it did not reject'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LatchkeyError);
  return error as LatchkeyError;
}
