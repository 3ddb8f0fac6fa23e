import type { CheckedPage } from './callers.ts';

/** The RFC 7636 S256 challenges of a page that begins a sign-in. */
export interface CodeChallenges {
  /** The code of this sign-in will be bound to it. */
  codeChallenge?: string | undefined;
  /** Used instead if the client requires PKCE and there is no `codeChallenge`. */
  spareCodeChallenge?: string | undefined;
}

/** True for an application's page without a code challenge whose client requires PKCE. */
export function lacksPkce({ client, request }: CheckedPage, codeChallenge: string | null | undefined): boolean {
  return client.pkceRequired && !request && codeChallenge == null;
}

/** The challenge that the code of this sign-in will be bound to. */
export function chosenChallenge(page: CheckedPage, given: CodeChallenges): string | undefined {
  return lacksPkce(page, given.codeChallenge) ? given.spareCodeChallenge : given.codeChallenge;
}
