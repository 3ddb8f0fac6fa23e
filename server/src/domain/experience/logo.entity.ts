import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';

const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type LogoType = (typeof logoTypes)[number];

const schema = defineEntity({
  name: 'Logo',
  tableName: 'logos',
  properties: {
    id: key(),
    project: () => p.manyToOne(Project).ref().deleteRule('cascade').index(),
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
