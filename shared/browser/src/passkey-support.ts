/** The passkey features of this browser on this page. */
export type PasskeySupport = {
  /** Passkeys can be used: `signInWithPasskey` and `createPasskey` work. */
  available: boolean;
  /** The address field can suggest passkeys: `mediation: 'conditional'` works. */
  autofill: boolean;
  /** This device can store a passkey and verify the user, for example by fingerprint or PIN. */
  platform: boolean;
};

/** Detects whether this browser can use passkeys. Never throws. */
export async function passkeySupport(): Promise<PasskeySupport> {
  const api = globalThis.PublicKeyCredential;
  const available = hasPasskeys();
  const can = async (question?: () => Promise<boolean>) => {
    try {
      return available && (await question?.call(api)) === true;
    } catch {
      return false;
    }
  };
  return {
    available,
    autofill: await can(api?.isConditionalMediationAvailable),
    platform: await can(api?.isUserVerifyingPlatformAuthenticatorAvailable),
  };
}

/** Whether the browser has WebAuthn and its JSON methods (WebAuthn Level 3 section 5.1), which came later. */
export function hasPasskeys(): boolean {
  const api = globalThis.PublicKeyCredential;
  const methods = [api?.parseRequestOptionsFromJSON, api?.parseCreationOptionsFromJSON, api?.prototype?.toJSON];
  return methods.every((method) => typeof method === 'function');
}
