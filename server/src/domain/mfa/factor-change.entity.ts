import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'FactorChange',
  tableName: 'factor_changes',
  properties: {
    id: key(),
    /** SHA-256 of the change's handle at the back end. */
    sessionHash: p.text().unique(),
    client: () => p.manyToOne(Client).ref().deleteRule('cascade').index(),
    user: () => p.manyToOne(User).ref().deleteRule('cascade').index(),
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
