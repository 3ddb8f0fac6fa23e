import type { PasskeyCreationOptions, PasskeyRequestOptions } from '@latchkey/contracts';
import { LatchkeyError } from './error.ts';
import { abortable, aborted } from './guarded.ts';
import { hasPasskeys } from './passkey-support.ts';

/** Milliseconds for a creation without a dialog: the browser agrees immediately or not at all. */
const quietTimeout = 3_000;

/** A `PublicKeyCredential` as JSON. */
type CredentialJson = { id: string };

/** The passkey operation in progress: a browser allows one per page. */
let current: AbortController | undefined;

/**
 * Runs one passkey operation and aborts the one in progress, for example the suggestions of the address field.
 *
 * @throws LatchkeyError PASSKEY_UNSUPPORTED
 */
export async function exclusively<T>(
  signal: AbortSignal | undefined,
  work: (own: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!hasPasskeys()) throw unsupported();
  return abortable(signal, (own) => {
    current?.abort();
    current = own;
    return work(own.signal);
  });
}

/**
 * Asks the browser for a passkey. `conditional`: in the suggestions of the address field.
 *
 * @returns undefined after `lifetime` milliseconds
 */
export function requestPasskey(
  options: PasskeyRequestOptions,
  mediation: 'conditional' | undefined,
  signal: AbortSignal,
  lifetime?: number,
): Promise<CredentialJson | undefined> {
  return ceremony(signal, lifetime, (own) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return navigator.credentials.get({ publicKey, signal: own, ...(mediation && { mediation }) });
  });
}

/** Asks the browser to create a passkey. `conditional`: without a dialog, or not at all. */
export async function makePasskey(
  options: PasskeyCreationOptions,
  mediation: 'conditional' | undefined,
  signal: AbortSignal,
): Promise<CredentialJson> {
  const made = await ceremony(signal, mediation && quietTimeout, (own) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return navigator.credentials.create({ publicKey, signal: own, ...(mediation && { mediation }) });
  });
  if (!made) throw cancelled();
  return made;
}

async function ceremony(
  signal: AbortSignal,
  lifetime: number | undefined,
  call: (own: AbortSignal) => Promise<Credential | null>,
): Promise<CredentialJson | undefined> {
  return abortable(signal, async (own) => {
    const timer = lifetime && setTimeout(() => own.abort(), lifetime);
    try {
      const credential = await call(own.signal);
      if (!credential) throw new DOMException('no credential', 'NotAllowedError');
      return (credential as PublicKeyCredential).toJSON();
    } catch (cause) {
      if (signal.aborted) throw aborted(cause);
      if (own.signal.aborted) return undefined;
      throw translated(cause);
    } finally {
      clearTimeout(timer);
    }
  });
}

/** Errors of WebAuthn Level 3 section 5.1. */
function translated(cause: unknown): LatchkeyError {
  const name = (cause as Partial<DOMException> | undefined)?.name;
  if (name === 'InvalidStateError')
    return new LatchkeyError('PASSKEY_EXISTS', 'user_action', 'This device already has a passkey for the account.', {
      cause,
    });
  // TypeError: the browser does not support an option, for example `conditional`.
  if (name === 'SecurityError' || name === 'NotSupportedError' || name === 'TypeError') return unsupported(cause);
  return cancelled(cause);
}

const cancelled = (cause?: unknown) =>
  new LatchkeyError(
    'PASSKEY_CANCELLED',
    'user_action',
    'No passkey was used: the user cancelled, took too long, or has none here.',
    { cause },
  );

const unsupported = (cause?: unknown) =>
  new LatchkeyError(
    'PASSKEY_UNSUPPORTED',
    'fatal',
    "Passkeys cannot be used here: the browser is too old, or this origin may not use the service's domain.",
    { cause },
  );

/** Lets the browser remove a passkey that the service does not have (WebAuthn Level 3 section 5.1.10). */
export function signalUnknown(rpId: string, credentialId: string): void {
  void globalThis.PublicKeyCredential?.signalUnknownCredential?.({ rpId, credentialId })?.catch(() => undefined);
}

/** Lets the browser remove passkeys that are no longer in the account. */
export function signalAccepted(rpId: string, userId: string, allAcceptedCredentialIds: string[]): void {
  void globalThis.PublicKeyCredential?.signalAllAcceptedCredentials?.({
    rpId,
    userId,
    allAcceptedCredentialIds,
  })?.catch(() => undefined);
}

/** Signals the user's current names to the browser, which shows them next to the passkey. */
export function signalUser(rpId: string, userId: string, name: string, displayName: string): void {
  const details = { rpId, userId, name, displayName };
  void globalThis.PublicKeyCredential?.signalCurrentUserDetails?.(details)?.catch(() => undefined);
}
