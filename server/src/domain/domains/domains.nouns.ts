import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { CustomDomain } from './custom-domain.entity.ts';
import { VerifiedHost } from './verified-host.entity.ts';

const nouns = {
  domain: { table: 'custom_domains' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    domains: typeof nouns;
  }
}

export const domainsNouns = {
  nouns,
  entities: [CustomDomain, VerifiedHost],
  transfer: [
    {
      type: 'custom-domain',
      table: 'custom_domains',
      parent: childOf('project'),
      key: ['id'],
      // Each instance verifies domains itself.
      omit: ['state', 'fault', 'checked_at', 'verified_at', 'missing_since', 'unanswered_since', 'warned_at'],
    },
  ],
} satisfies Declaration;
