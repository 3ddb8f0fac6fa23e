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

/** A picture of a project; its bytes never change, another one has another id. */
export class Logo extends schema.class {}
schema.setClass(Logo);
