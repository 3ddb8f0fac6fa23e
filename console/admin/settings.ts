// Tests have no document.
const meta = typeof document === 'undefined' ? null : document.querySelector<HTMLMetaElement>('meta[name="latchkey"]');

/** Settings that the server renders into the page. */
export const settings = {
  /** CSP nonce for style elements. */
  nonce: meta?.nonce ?? '',
  issuer: meta?.dataset['issuer'] ?? '',
  /** The console's own client ID. */
  clientId: meta?.dataset['clientId'] ?? '',
  consoleProjectId: meta?.dataset['projectId'] ?? '',
  /** ID of the account that loaded the page. The server refuses its requests in the session of another. */
  account: meta?.dataset['account'] ?? '',
  /** Whether the account that loaded the page is an owner; for display and prefetching only. */
  isOwner: meta?.dataset['owner'] === 'true',
  /** Messages are captured in the dev mailbox instead of sent. */
  hasDevMailbox: meta?.dataset['devMailbox'] === 'true',
  version: meta?.dataset['version'] ?? '',
} as const;

/** Ends the session, then returns to the console. */
export const signOutAddress = `/oauth2/end_session?${new URLSearchParams({
  client_id: settings.clientId,
  post_logout_redirect_uri: `${settings.issuer}/admin`,
})}`;
