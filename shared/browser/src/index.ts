import { createLatchkey } from './latchkey.ts';

export { LatchkeyError, type LatchkeyErrorCategory, type LatchkeyErrorCode } from './error.ts';
export type {
  AuthenticateOptions,
  ChangePhoneNumberInput,
  InitiateMfaInput,
  VerifyDeviceInput,
  VerifyEmailOtpInput,
  VerifyMfaInput,
  VerifyPhoneNumberInput,
} from './inputs.ts';
export { createLatchkey, type Latchkey, type LatchkeyConfig, type LatchkeyOptions } from './latchkey.ts';
export { createPkce, type Pkce } from './pkce.ts';
export type {
  AuthenticateResult,
  ChangePhoneNumberResult,
  CodeFormat,
  ForgetDeviceResult,
  InitializeResult,
  InitiateMfaResult,
  MfaMethod,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
  VerifyPhoneNumberResult,
} from './results.ts';

/** The default client of the module. `createLatchkey` creates further ones. */
export const {
  init,
  initialize,
  authenticate,
  verifyEmailOtp,
  verifyDevice,
  initiateMfa,
  verifyMfa,
  changePhoneNumber,
  verifyPhoneNumber,
  forgetDevice,
} = /* @__PURE__ */ createLatchkey();
