const meta = document.querySelector<HTMLMetaElement>('meta[name="latchkey"]');

/** What the server said when it sent the page. */
export const settings = {
  /** For style elements, by the page's content security policy. */
  nonce: meta?.nonce ?? '',
  issuer: meta?.dataset['issuer'] ?? location.origin,
  /** Of the console itself: what it signs in with. */
  clientId: meta?.dataset['clientId'] ?? '',
  consoleProjectId: meta?.dataset['projectId'] ?? '',
  /** Messages are kept here instead of being sent. */
  hasDevMailbox: meta?.dataset['devMailbox'] === 'true',
} as const;
