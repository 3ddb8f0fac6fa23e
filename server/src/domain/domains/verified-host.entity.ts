import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';

const schema = defineEntity({
  name: 'VerifiedHost',
  tableName: 'verified_hosts',
  properties: {
    host: p.text().primary(),
    /** Null: the project was deleted. */
    project: () => p.manyToOne(Project).ref().nullable().deleteRule('set null').updateRule('no action'),
    verifiedAt: instant(),
    /**
     * Time at which the project lost or removed the domain: the host then serves nothing until another check succeeds.
     */
    releasedAt: instant().nullable(),
  },
});

/** The project that holds a host name: at most one in the instance. */
export class VerifiedHost extends schema.class {}
schema.setClass(VerifiedHost);
