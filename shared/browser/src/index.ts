import { createLatchkey } from './latchkey.ts';

export { LatchkeyError, type LatchkeyErrorCategory, type LatchkeyErrorCode } from './error.ts';
export type { SignIn, SignInAction, SignInState, StartOptions } from './flow/state.ts';
export type {
  AuthenticateOptions,
  ChangePhoneNumberInput,
  CreatePasskeyInput,
  InitiateMfaInput,
  SignInWithPasskeyOptions,
  SignOutOptions,
  VerifyDeviceInput,
  VerifyEmailOtpInput,
  VerifyMfaInput,
  VerifyPhoneNumberInput,
} from './inputs.ts';
export { createLatchkey, type Latchkey, type LatchkeyConfig, type LatchkeyOptions } from './latchkey.ts';
export { type PasskeySupport, passkeySupport } from './passkey-support.ts';
export { createPkce, type Pkce } from './pkce.ts';
export type {
  AuthenticateResult,
  ChangePhoneNumberResult,
  CodeFormat,
  CreatePasskeyResult,
  ForgetDeviceResult,
  InitializeResult,
  InitiateMfaResult,
  MfaMethod,
  SignInWithPasskeyResult,
  SignOutResult,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
  VerifyPhoneNumberResult,
} from './results.ts';

/** The default client of the module. `createLatchkey` creates others. */
export const {
  init,
  initialize,
  authenticate,
  signInWithPasskey,
  createPasskey,
  verifyEmailOtp,
  verifyDevice,
  initiateMfa,
  verifyMfa,
  changePhoneNumber,
  verifyPhoneNumber,
  forgetDevice,
  start,
  lastUser,
  signOut,
} = /* @__PURE__ */ createLatchkey();
