/** The challenge that a response claims, in base64url; null if it is malformed. */
export function challengeOf(response: Record<string, unknown> | undefined): string | null {
  const { clientDataJSON } = (response?.['response'] ?? {}) as { clientDataJSON?: unknown };
  if (typeof clientDataJSON !== 'string' || clientDataJSON.length > 4096) return null;
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown };
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}

/** The credential that a response names; null if it is not base64url of a valid length (WebAuthn Level 3 section 5.1). */
export function credentialIdOf(response: Record<string, unknown> | undefined): string | null {
  const id = response?.['id'];
  return typeof id === 'string' && /^[A-Za-z0-9_-]{1,1364}$/.test(id) ? id : null;
}

/**
 * The user handle of a passkey that a user registered at a former system: its user id, which is `subject` here.
 */
export function formerHandleOf(subject: string | null | undefined): string | undefined {
  return subject == null ? undefined : userHandleOf(subject);
}

/** The user handle (WebAuthn Level 3 section 5.4.3) of a user, in base64url. Contains no personal data. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId).toString('base64url');
}
