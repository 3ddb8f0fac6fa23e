/** This application's values, for the settings of a product. */
export interface Values {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Address of the product, without a trailing slash; empty if it has none. */
  address: string;
  /** A text as part of a query. */
  encoded(text: string): string;
}

/** Text to paste into a file or a shell, or fields of a form of the product. */
export type Setting = { name: string } & (
  | { language: string; code: (values: Values) => string }
  | { fields: (values: Values) => readonly (readonly [label: string, value: string])[] }
);

/** The data that a product needs to sign in. The console's wizard and server/docs/products.md are made from it. */
export interface Product {
  /** Anchor of its section in the documentation. */
  id: string;
  name: string;
  /** Further words that find it. */
  words: string;
  /** Example of its address. Null: it has the same address for everyone, or none. */
  address: string | null;
  /** Paths at its address, or whole redirect URIs. */
  redirectUris: readonly string[];
  /** Pages after sign-out, in the same form. */
  postLogoutRedirectUris?: readonly string[];
  /** It signs in as itself: no user, no redirect. */
  isMachine?: true;
  /** It runs on devices. */
  isNative?: true;
  /** A public client: it has no secret. */
  isPublic?: true;
  /** Signature of ID tokens. */
  algorithm: 'RS256';
  /** With these settings, it sends a challenge, so that codes without one are refused. */
  requiresPkce?: true;
  /** It does not refresh its tokens. */
  withoutRefresh?: true;
  scope: string;
  /** Its setting for groups or roles; absent: it has none. */
  groups?: string;
  /** Its setting for PKCE, or in words: always, none, not documented. `none` stands for a product that sends no challenge. */
  pkce: string;
  /** Keys of roles that its settings read. */
  roles?: readonly string[];
  settings: readonly Setting[];
  /** Documentation that the settings follow. */
  sources: readonly string[];
}
