import type { SigninCaller } from '../callers.ts';
import type { FlowDeps, StepInput } from '../flow.ts';
import type { Answers, CeremonyStep } from '../steps/steps.ts';
import { passkeySignIn } from './passkey-sign-in.ts';
import { trustedSignIn } from './trusted-sign-in.ts';

/**
 * A step of an application's page in fewer statements. Null, with nothing written, unless it ends in its usual
 * response; the table of steps then decides from the start.
 */
type Shortcut<S extends CeremonyStep> = (
  deps: FlowDeps,
  caller: SigninCaller,
  input: StepInput,
  nextNonce: string,
) => Promise<Answers[S] | null>;

/**
 * Each saves at least 25 % of its step's CPU; a test compares its responses and rows with the table's (decisions/0085).
 */
export const shortcuts: { [S in CeremonyStep]?: Shortcut<S> } = {
  authenticate: trustedSignIn,
  'verify-passkey': passkeySignIn,
};
