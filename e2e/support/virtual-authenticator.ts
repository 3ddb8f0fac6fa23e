import type { CDPSession, Page } from '@playwright/test';

/** A passkey with its private key, as in the DevTools protocol. */
interface Credential {
  /** Base64. */
  credentialId: string;
  isResidentCredential: boolean;
  rpId?: string;
  privateKey: string;
  userHandle?: string;
  signCount: number;
  /** As the browser shows it; a signal may change both. */
  userName?: string;
  userDisplayName?: string;
}

/** Members of the protocol's VirtualAuthenticatorOptions. */
export interface AuthenticatorKind {
  transport?: 'internal' | 'hybrid' | 'usb';
  hasResidentKey?: boolean;
  hasUserVerification?: boolean;
  isUserVerified?: boolean;
  /** Backup eligibility and state of new passkeys. */
  defaultBackupEligibility?: boolean;
  defaultBackupState?: boolean;
}

/**
 * An authenticator of Chromium's WebAuthn emulation, which answers each request immediately, including the suggestions
 * of a field. `internal`: part of the device; `hybrid`: a phone nearby; `usb`: a security key.
 */
export class VirtualAuthenticator {
  readonly #session: CDPSession;
  readonly #authenticatorId: string;

  private constructor(session: CDPSession, authenticatorId: string) {
    this.#session = session;
    this.#authenticatorId = authenticatorId;
  }

  static async connect(
    page: Page,
    { credentials = [], ...kind }: AuthenticatorKind & { credentials?: Credential[] } = {},
  ): Promise<VirtualAuthenticator> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable', { enableUI: false });
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
        ...kind,
      },
    });
    for (const credential of credentials) await session.send('WebAuthn.addCredential', { authenticatorId, credential });
    return new VirtualAuthenticator(session, authenticatorId);
  }

  /** Its passkeys with their private keys, for another authenticator. */
  async credentials(): Promise<Credential[]> {
    const { credentials } = await this.#session.send('WebAuthn.getCredentials', {
      authenticatorId: this.#authenticatorId,
    });
    return credentials;
  }

  /** Whether the user passes the check of fingerprint or PIN. */
  async setUserVerified(isUserVerified: boolean): Promise<void> {
    await this.#session.send('WebAuthn.setUserVerified', { authenticatorId: this.#authenticatorId, isUserVerified });
  }

  /** The ids of passkeys that the page's signals have deleted or updated, as they come. */
  signalled(event: 'credentialDeleted' | 'credentialUpdated'): string[] {
    const ids: string[] = [];
    this.#session.on(`WebAuthn.${event}`, (signal) => {
      ids.push('credentialId' in signal ? signal.credentialId : signal.credential.credentialId);
    });
    return ids;
  }
}
