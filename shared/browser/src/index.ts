import { createLatchkey } from './latchkey.ts';

export { LatchkeyError, type LatchkeyErrorCategory, type LatchkeyErrorCode } from './error.ts';
export type {
  AuthenticateOptions,
  InitiateMfaInput,
  VerifyDeviceInput,
  VerifyEmailOtpInput,
  VerifyMfaInput,
} from './inputs.ts';
export { createLatchkey, type Latchkey, type LatchkeyConfig, type LatchkeyOptions } from './latchkey.ts';
export { createPkce, type Pkce } from './pkce.ts';
export type {
  AuthenticateResult,
  InitializeResult,
  InitiateMfaResult,
  MfaMethod,
  VerifyDeviceResult,
  VerifyEmailOtpResult,
  VerifyMfaResult,
} from './results.ts';

/** The client that most pages need: one for the whole module. `createLatchkey` makes others. */
export const { init, initialize, authenticate, verifyEmailOtp, verifyDevice, initiateMfa, verifyMfa } =
  /* @__PURE__ */ createLatchkey();
