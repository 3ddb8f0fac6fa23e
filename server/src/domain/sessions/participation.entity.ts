import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import type { NameIdKind } from '../clients/saml/saml.resource.ts';
import { instant } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Session } from './session.entity.ts';

const schema = defineEntity({
  name: 'Participation',
  tableName: 'participations',
  properties: {
    project: impliedTenant,
    session: () => sameProject(Session, 'session_id').primary(),
    client: () => sameProject(Client, 'client_id').primary(),
    /** The issuer of the latest tokens; null: the base issuer. */
    issuer: p.text().nullable(),
    /** The kind of the NameID that a SAML application received; null: none, or before release 1.0. */
    samlNameId: p.text().$type<NameIdKind>().nullable(),
    firstAt: instant(),
    lastAt: instant(),
  },
});

/** A client that received tokens under a session and is notified when the session ends. */
export class Participation extends schema.class {}
schema.setClass(Participation);
