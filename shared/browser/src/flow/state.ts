import type { LatchkeyError } from '../error.ts';
import type { MfaMethod } from '../results.ts';

/**
 * The prompts of a sign-in, and their contents. Transitions:
 *
 * | step | action | next |
 * |---|---|---|
 * | address | submit-address | code, passkey, new-passkey, success |
 * | address | use-passkey | success |
 * | code (method `address`) | submit-code | method, new-passkey, success |
 * | code (method of a second factor) | submit-code | new-passkey, success |
 * | code | resend | code |
 * | code (second factor), passkey | use-recovery-code | recovery-code |
 * | recovery-code | submit-code | new-passkey, success |
 * | method | choose-method | phone, code |
 * | phone | submit-phone | code |
 * | passkey | use-passkey | success |
 * | new-passkey | create-passkey | success |
 * | recovery-code, phone, code (while enrolling) | back | the prompt before |
 * | any other than success | restart, or back | address |
 *
 * An error leaves the step as it is and is in `error`, with three exceptions: a sign-in that has ended returns to
 * `address`, a factor that cannot be used now leads to `recovery-code`, and a fatal error to `failed`.
 */
type Prompt =
  /** Ask for the email address. */
  | {
      step: 'address';
      /** As typed before, or the user who last signed in here. */
      userid: string;
      /** Whether `use-passkey` can work here. */
      canUsePasskey: boolean;
    }
  /** Ask for a one-time code. */
  | {
      step: 'code';
      userid: string;
      /** `address`: from the mail that verifies the address. Otherwise of a second factor. */
      method: 'address' | MfaMethod;
      /** Masked destination. Absent for an authenticator app. */
      sentTo: string | undefined;
      /** Seconds until `resend` works; counts down. Undefined for an authenticator app. */
      resendIn: number | undefined;
      /** Six digits, or ten letters and digits. */
      codeFormat: 'digits' | 'long';
      /** On enrollment of an authenticator app: show as QR code and as text. */
      totp: { secret: string; otpauthUri: string } | undefined;
      /** The one-time code, in test mode only. */
      testCode: string | undefined;
      canUseRecoveryCode: boolean;
      /** Whether `back` leads to the choice of a method. */
      canChooseMethod: boolean;
    }
  /** Ask for a recovery code in place of the second factor. */
  | { step: 'recovery-code'; userid: string }
  /** Ask for the second factor to enroll. */
  | { step: 'method'; userid: string; methods: MfaMethod[] }
  /** Ask for a phone number in E.164. */
  | { step: 'phone'; userid: string }
  /** Ask for a passkey as the second factor: call `use-passkey` from a click. */
  | { step: 'passkey'; userid: string }
  /** A passkey is required: call `create-passkey` from a click. */
  | { step: 'new-passkey'; userid: string }
  /** Signed in. */
  | {
      step: 'success';
      userid: string;
      /** Authorization code for the back end: single use, valid for 60 seconds. */
      code: string;
      /** PKCE verifier for exchanging `code`, if the SDK created the challenge. */
      codeVerifier: string | undefined;
      /** Once, after the first second factor was enrolled. Exchange `code` first, then show them. */
      recoveryCodes: string[] | undefined;
    }
  /** The page or its settings are wrong: see `error`. */
  | { step: 'failed'; userid: string };

export type SignInState = Prompt & {
  /** A request or a dialog of the browser is open: actions other than `back` and `restart` are ignored. */
  busy: boolean;
  /** The error of the last action. */
  error: LatchkeyError | undefined;
};

/** Actions of the user. One that does not belong to the step is ignored. */
export type SignInAction =
  | {
      type: 'submit-address';
      userid: string;
      /** False on a shared device. Default: as in `start`. */
      rememberDevice?: boolean | undefined;
    }
  | { type: 'use-passkey' }
  | { type: 'submit-code'; otp: string }
  | { type: 'resend' }
  | { type: 'use-recovery-code' }
  | { type: 'choose-method'; method: MfaMethod }
  | { type: 'submit-phone'; phoneNumber: string }
  | { type: 'create-passkey' }
  | { type: 'back' }
  | { type: 'restart' };

export type StartOptions = {
  /** Fills the address. Default: the user who last signed in here. */
  userid?: string | undefined;
  /** False on a shared device: the device key is deleted when the sign-in ends. Default true. */
  rememberDevice?: boolean | undefined;
  /** Suggests passkeys in the address field, which needs `autocomplete="username webauthn"`. Default false. */
  suggestPasskeys?: boolean | undefined;
  /** PKCE challenge of the page's own verifier. Default: the SDK creates one if the client requires PKCE. */
  code_challenge?: string | undefined;
  /** `S256`. */
  code_challenge_method?: string | undefined;
};

/** A sign-in as a state machine: show `state`, pass on the user's actions. */
export interface SignIn {
  readonly state: SignInState;
  /** Calls `listener` after each change; returns a function that unsubscribes it. */
  onStateChange(listener: (state: SignInState) => void): () => void;
  /** Never throws: errors are in `state.error`. */
  send(action: SignInAction): void;
  /** Ends requests, dialogs and timers, for example when the page removes the form. */
  stop(): void;
}
