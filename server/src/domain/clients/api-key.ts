import type { ApiKeyKind } from './api-key.entity.ts';

/** So that secret scanners find them. */
export const apiKeyPrefixes: Record<ApiKeyKind, string> = { publishable: 'lk_pk_', secret: 'lk_sk_' };

/** Whether it looks like an API key at all, before anybody is asked about it. */
export function isApiKey(text: string): boolean {
  return text.length <= 100 && Object.values(apiKeyPrefixes).some((prefix) => text.startsWith(prefix));
}
