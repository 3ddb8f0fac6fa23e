import type { ApiKeyKind } from './api-key.entity.ts';

/** Lets secret scanners recognize API keys. */
export const apiKeyPrefixes: Record<ApiKeyKind, string> = { publishable: 'lk_pk_', secret: 'lk_sk_' };

/** Checks the format, without a lookup. */
export function isApiKey(text: string): boolean {
  return text.length <= 100 && Object.values(apiKeyPrefixes).some((prefix) => text.startsWith(prefix));
}
