import type { Declaration } from '../kernel/nouns/declaration.ts';
import { childOf } from '../kernel/nouns/transfer.ts';
import { RetiredMacKey } from './retired-mac-key.entity.ts';
import { SamlKey } from './saml-key.entity.ts';
import { SigningKey } from './signing-key.entity.ts';

const nouns = {
  'signing-key': {},
  'saml-key': { table: 'saml_keys' },
} as const;

const events = {
  'saml-key.published': ['administration', '{actor} published a SAML signing key'],
  'signing-key.published': ['administration', '{actor} published a signing key'],
  'signing-key.withdrawn': ['administration', '{actor} withdrew a signing key'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    keys: typeof nouns;
  }
  interface Events {
    keys: typeof events;
  }
}

export const keysNouns = {
  nouns,
  events,
  entities: [SigningKey, RetiredMacKey, SamlKey],
  transfer: [
    {
      type: 'saml-key',
      table: 'saml_keys',
      parent: childOf('project'),
      key: ['id'],
      withoutSecrets: 'false',
      secrets: [{ column: 'sealed_private_key', purpose: 'saml-key' }],
    },
  ],
} satisfies Declaration;
