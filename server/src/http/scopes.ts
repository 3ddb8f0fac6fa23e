import { userScopes } from '../domain/projects/issuer.ts';

/** A text of the pages: its key, and the values of its placeholders. */
export interface PageText {
  key: string;
  values: Record<string, string>;
}

/** A scope of an API, as a consent has it: after its identifier and a space. */
function named(entry: string): string {
  const [api, scope] = entry.split(' ');
  return scope === undefined ? entry : `${scope} (${api})`;
}

/** The permissions of scopes, a sentence each: those that concern users have a text of their own. `openid` is omitted if there are others. */
export function scopeTexts(scopes: readonly string[]): PageText[] {
  return scopes
    .filter((scope) => scope !== 'openid' || scopes.length === 1)
    .map(named)
    .map((scope) => ({ key: userScopes.includes(scope) ? `scope.${scope}` : 'scope.other', values: { scope } }));
}
