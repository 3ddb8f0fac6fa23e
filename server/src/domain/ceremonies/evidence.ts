import type { MfaMethod } from '../mfa/enrolment.entity.ts';

/**
 * One thing that was proved in a sign-in, and the account that it proves. Appended by the step that verified it, and never
 * changed. Times are ISO 8601.
 */
export type Evidence = { account: string; at: string } & (
  | { kind: 'mail-code'; address: string }
  | { kind: 'device-key'; device: string }
  | { kind: 'factor'; enrolment: string; method: MfaMethod }
  | { kind: 'recovery-code' }
);
