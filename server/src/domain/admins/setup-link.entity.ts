import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'SetupLink',
  tableName: 'setup_links',
  properties: {
    id: key(),
    hash: p.text().unique(),
    createdAt: instant(),
    expiresAt: instant(),
    usedAt: instant().nullable(),
  },
});

/** A one-time link that makes its holder an owner: 256 bits, 15 minutes, stored as a hash. */
export class SetupLink extends schema.class {}
schema.setClass(SetupLink);
