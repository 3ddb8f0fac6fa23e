import type { ClientKind as StoredKind, TokenEndpointAuthMethod } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import type { IconName } from '../ui/icon.tsx';

/** Application type, for display. */
export type ClientKind = 'single-page' | 'web-server' | 'native';

export const clientKinds: Record<ClientKind, { name: string; hint: string; icon: IconName }> = {
  'single-page': {
    name: t('Single-page application'),
    hint: t('Runs in the browser: React, Vue, Svelte.'),
    icon: 'browser',
  },
  'web-server': {
    name: t('Web server'),
    hint: t('Runs on a server that keeps a secret: Express, Next.js, Django.'),
    icon: 'server',
  },
  native: {
    name: t('Native or command line'),
    hint: t('Runs on a device and receives the redirect on a loopback address.'),
    icon: 'phone',
  },
};

/** Values of the API. */
export const storedKinds = {
  'single-page': 'SINGLE_PAGE',
  'web-server': 'WEB_SERVER',
  native: 'NATIVE',
} as const satisfies Record<ClientKind, StoredKind>;

export const isKind = (text: string): text is ClientKind => Object.hasOwn(storedKinds, text);

interface Known {
  kind: StoredKind | null;
  tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  redirectUris: readonly string[];
}

/** The type chosen at creation; a guess for an application created otherwise. */
export function kindOf({ kind, tokenEndpointAuthMethod, redirectUris }: Known): ClientKind {
  const chosen = (Object.keys(storedKinds) as ClientKind[]).find((one) => storedKinds[one] === kind);
  if (chosen) return chosen;
  if (tokenEndpointAuthMethod !== 'NONE') return 'web-server';
  const areLocal = redirectUris.length > 0 && redirectUris.every((uri) => /^http:\/\/(127\.0\.0\.1|\[::1\])/.test(uri));
  return areLocal ? 'native' : 'single-page';
}

export const authMethodNames = {
  NONE: t('Public: PKCE only'),
  PRIVATE_KEY_JWT: t('Private key (private_key_jwt)'),
  CLIENT_SECRET_BASIC: t('Client secret (client_secret_basic)'),
  CLIENT_SECRET_POST: t('Client secret (client_secret_post)'),
} as const;

/** Whether an application authenticates with a client secret. */
export function hasSecret(method: TokenEndpointAuthMethod): boolean {
  return method === 'CLIENT_SECRET_BASIC' || method === 'CLIENT_SECRET_POST';
}
