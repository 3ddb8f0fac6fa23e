import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../clients/client.entity.ts';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';

export const logoutDeliveryStates = ['pending', 'delivered', 'failed'] as const;
export type LogoutDeliveryState = (typeof logoutDeliveryStates)[number];
/** One POST and its result. */
export interface DeliveryAttempt {
  at: string;
  status?: number;
  error?: string;
  durationMs: number;
}

const schema = defineEntity({
  name: 'LogoutDelivery',
  tableName: 'logout_deliveries',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    /** `iss` of the token; null: the base issuer. */
    issuer: p.text().nullable(),
    /** The user, who may be erased. */
    subject: p.uuid(),
    /** `sub` of the token; null: the id of the user. */
    sub: p.text().nullable(),
    /** The session that the token names; null: the token ends every session of the user. */
    sid: p.uuid().nullable(),
    /** Delivery to the same client whose first attempt must precede this one's. */
    afterId: p.uuid().nullable(),
    /** The NameID of a SAML application, sealed; null: the delivery is a logout token, or has arrived. */
    sealedNameId: p.blob().nullable(),
    /** The same in all attempts, so that receivers recognize retries. */
    jti: p.text(),
    uri: p.text(),
    state: p.enum(logoutDeliveryStates).default('pending'),
    attempts: p.json<DeliveryAttempt[]>(),
    nextAttemptAt: instant().nullable(),
    createdAt: instant(),
    deliveredAt: instant().nullable(),
  },
});

/** Delivery of a logout token (OpenID Connect Back-Channel Logout 1.0) or a SAML logout request to one client. */
export class LogoutDelivery extends schema.class {}
schema.setClass(LogoutDelivery);
