import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant } from '../kernel/columns.ts';
import { Session } from './session.entity.ts';

const schema = defineEntity({
  name: 'Participation',
  tableName: 'participations',
  properties: {
    session: () => p.manyToOne(Session).ref().primary().deleteRule('cascade'),
    client: () => p.manyToOne(Client).ref().primary().deleteRule('cascade').index(),
    firstAt: instant(),
    lastAt: instant(),
  },
});

/** A client that received tokens under a session and is notified when the session ends. */
export class Participation extends schema.class {}
schema.setClass(Participation);
