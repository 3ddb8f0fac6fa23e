import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'FactorChange',
  tableName: 'factor_changes',
  properties: {
    project: impliedTenant,
    id: key(),
    /** SHA-256 of the change's handle at the back end. */
    sessionHash: p.text().index(),
    client: () => sameProject(Client, 'client_id'),
    user: () => sameProject(User, 'user_id'),
    /** The new, unverified factor. */
    enrolmentId: p.uuid(),
    attempts: p.integer().default(0),
    createdAt: instant(),
    expiresAt: instant().index(),
    finishedAt: instant().nullable(),
  },
});

/** A change of a user's second factor by a back end; done once the new factor is verified. */
export class FactorChange extends schema.class {}
schema.setClass(FactorChange);
