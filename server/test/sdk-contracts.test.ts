import type {
  AuthenticateResult,
  ChangePhoneNumberResult,
  InitiateMfaResult,
  SignInWithPasskeyResult,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
  VerifyPhoneNumberResult,
} from '@latchkey/browser';
import { type DelegationResults, mfaMethods, type SigninResponses } from '@latchkey/contracts';
import { type MfaChangeResult, MfaMethod, type UserCredentials, type VerifyMfaChangeResult } from '@latchkey/node';
import { describe, expect, expectTypeOf, it } from 'vitest';

type Camel<Name> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name;
type CamelCased<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value as Camel<Name>]: CamelCased<Value[Name]> }
    : Value;
/** A response as the SDK returns it, in an application's page. */
type Expected<Response> = Response extends { redirect_to: string }
  ? never
  : CamelCased<Omit<Response, 'nonce' | 'passkey_offer'>>;
/** Without members that the SDK adds. */
type Received<Result> = Result extends unknown ? Plain<Omit<Result, 'success' | 'codeVerifier'>> : never;
type Plain<Value> = { [Name in keyof Value]: Value[Name] };

/** Checked by `tsc`: the SDKs' own types, which are published without the contracts, follow the wire format. */
describe('the types of the SDKs', () => {
  it('have each response of sign-in', () => {
    type Step<S extends keyof SigninResponses> = Expected<SigninResponses[S]>;
    expectTypeOf<Received<AuthenticateResult>>().branded.toEqualTypeOf<Step<'authenticate'>>();
    expectTypeOf<Received<SignInWithPasskeyResult>>().branded.toEqualTypeOf<Step<'verify-passkey'>>();
    expectTypeOf<Received<VerifyEmailOtpResult>>().branded.toEqualTypeOf<Step<'verify-email-otp'>>();
    expectTypeOf<Received<VerifyDeviceResult>>().branded.toEqualTypeOf<Step<'verify-device'>>();
    expectTypeOf<Received<InitiateMfaResult>>().branded.toEqualTypeOf<Step<'initiate-mfa'>>();
    expectTypeOf<Received<VerifyMfaResult>>().branded.toEqualTypeOf<Step<'verify-mfa'>>();
    expectTypeOf<Received<ChangePhoneNumberResult>>().branded.toEqualTypeOf<Step<'change-phone-number'>>();
    expectTypeOf<Received<VerifyPhoneNumberResult>>().branded.toEqualTypeOf<Step<'verify-phone-number'>>();
  });

  it('have each result of delegation', () => {
    expectTypeOf<DelegationResults['initiateMfaChange']>().toExtend<Omit<MfaChangeResult, 'status'>>();
    expectTypeOf<DelegationResults['verifyMfaChange']>().toExtend<Omit<VerifyMfaChangeResult, 'status'>>();
    expectTypeOf<DelegationResults['getUserCredentials']>().toExtend<Omit<UserCredentials, 'status'>>();
    expect(Object.values(MfaMethod).toSorted()).toEqual([...mfaMethods].toSorted());
  });
});
