import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'KnownNetwork',
  tableName: 'known_networks',
  properties: {
    project: impliedTenant,
    user: () => sameProject(User, 'user_id').primary(),
    /** Keyed hash of the network (`networkOf`). */
    network: p.text().primary(),
    lastAt: instant(),
  },
});

/** A network from which a user has signed in with a mail code or a second factor. */
export class KnownNetwork extends schema.class {}
schema.setClass(KnownNetwork);
