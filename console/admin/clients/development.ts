import type { ClientKind } from './kind.ts';

/** Redirect URIs on the developer's machine, where the code of the quickstart runs. */
export const developmentUris: Record<ClientKind, string> = {
  'single-page': 'http://localhost:5173/callback',
  'web-server': 'http://localhost:3001/callback',
  native: 'http://127.0.0.1:3001/callback',
};

/** Where that code returns after sign-out. Native applications do not. */
export const developmentReturns = (kind: ClientKind): string[] =>
  kind === 'native' ? [] : [new URL('/', developmentUris[kind]).href];
