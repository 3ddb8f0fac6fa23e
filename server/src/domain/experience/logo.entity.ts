import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { tenant } from '../projects/tenant.ts';

const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type LogoType = (typeof logoTypes)[number];

const schema = defineEntity({
  name: 'Logo',
  tableName: 'logos',
  properties: {
    project: tenant,
    id: key(),
    type: p.text().$type<LogoType>(),
    bytes: p.blob(),
    width: p.integer(),
    height: p.integer(),
    createdAt: instant(),
  },
});

/** A logo of a project. Immutable: a new image gets a new id. */
export class Logo extends schema.class {}
schema.setClass(Logo);
