import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { CustomDomain } from './custom-domain.entity.ts';
import { VerifiedHost } from './verified-host.entity.ts';

const nouns = {
  domain: { table: 'custom_domains' },
} as const;

const events = {
  'domain.added': ['administration', '{actor} added the domain {subject}'],
  'domain.failed': ['administration', 'The domain {subject} was not verified in time'],
  'domain.lost': ['administration', 'The domain {subject} stopped working after failed DNS checks'],
  'domain.missing': ['administration', 'The domain {subject} failed its DNS check'],
  'domain.removed': ['administration', '{actor} removed the domain {subject}'],
  'domain.verified': ['administration', 'The domain {subject} was verified'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    domains: typeof nouns;
  }
  interface Events {
    domains: typeof events;
  }
}

export const domainsNouns = {
  nouns,
  events,
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
