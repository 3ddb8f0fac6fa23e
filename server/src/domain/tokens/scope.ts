/** The scope of SDK codes, whose requests name none. */
export const sdkScope = 'openid profile email phone';

/** The granted scopes: those of the request that are known, without duplicates, in its order. */
export function grantedScope(requested: string, known: readonly string[]): string {
  return [...new Set(requested.split(' '))].filter((scope) => known.includes(scope)).join(' ');
}
