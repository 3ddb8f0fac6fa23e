import { type AdminScope, mayUse } from '../kernel/admin-api.ts';
import { refuse } from '../kernel/problem.ts';
import type { Client } from './client.entity.ts';

/** The settings that decide what an application can do with users and at the admin API. */
export type PowerSettings = Pick<
  Client,
  'adminScopes' | 'relatedOrigins' | 'redirectUris' | 'thirdParty' | 'disabledAt'
>;

interface Power {
  /** The scopes required to give it, to restore it, or to direct it elsewhere. */
  scopes: (settings: PowerSettings) => readonly AdminScope[];
  /** The extent to which the application has it; a change that keeps this text needs no scope. Empty: not at all. */
  held: (settings: PowerSettings) => string;
  /** Whether `clients:write` alone gives it to a new application, which has no users, keys or consents yet. */
  isOfNewClients?: boolean;
  reason: string;
}

const overUsers = (): readonly AdminScope[] => ['users:write'];

/** Everything that an application with `clients:write` needs a further scope for (decisions/0331). */
const powers: readonly Power[] = [
  {
    scopes: ({ adminScopes }) => adminScopes,
    held: ({ adminScopes }) => adminScopes.join(' '),
    reason: 'the application has, or would have, rights at the admin API that the caller lacks',
  },
  {
    // One use of a passkey on such a page is enough to add another passkey, which may be that of an attacker.
    scopes: overUsers,
    held: ({ relatedOrigins, redirectUris }) => (relatedOrigins ? JSON.stringify([...redirectUris].sort()) : ''),
    reason: 'pages that can use passkeys of users require the scope users:write',
  },
  {
    scopes: overUsers,
    held: ({ thirdParty }) => (thirdParty ? '' : 'without consent'),
    isOfNewClients: true,
    reason: 'sign-in without consent for a third-party application requires the scope users:write',
  },
  {
    scopes: overUsers,
    held: ({ disabledAt }) => (disabledAt ? '' : 'enabled'),
    isOfNewClients: true,
    reason: 'enabling a disabled application requires the scope users:write',
  },
];

/**
 * Refuses `forbidden` if a change gives an application a power, gives it back, or directs it elsewhere, and the scopes do
 * not permit that: a scope that cannot give a power cannot undo its removal.
 *
 * @param scopes those of the application that makes the change; undefined: an admin, who needs none
 * @param before null: a new application
 */
export function checkPowers(
  scopes: readonly string[] | undefined,
  before: PowerSettings | null,
  after: PowerSettings,
): void {
  if (!scopes) return;
  for (const { scopes: needed, held, isOfNewClients, reason } of powers) {
    const isUnchanged = before ? held(before) === held(after) : isOfNewClients === true;
    if (held(after) === '' || isUnchanged || needed(after).every((scope) => mayUse(scopes, scope))) continue;
    refuse({ code: 'forbidden', reason });
  }
}
