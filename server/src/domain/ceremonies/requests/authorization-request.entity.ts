import { defineEntity, p } from '@mikro-orm/core';
import { Client } from '../../clients/client.entity.ts';
import { instant, key } from '../../kernel/columns.ts';
import { type ResponseMode } from '../../kernel/openid.ts';
import { impliedTenant, sameProject } from '../../projects/tenant.ts';

const schema = defineEntity({
  name: 'AuthorizationRequest',
  tableName: 'authorization_requests',
  properties: {
    project: impliedTenant,
    id: key(),
    client: () => sameProject(Client, 'client_id'),
    /** SHA-256 of the handle in the page's URL. */
    flowHash: p.text().index(),
    /** SHA-256 of the flow cookie: a flow continues only in the browser that started it. */
    browserHash: p.text(),
    /** The issuer that received it, and that its response names; null: the base issuer. */
    issuer: p.text().nullable(),
    redirectUri: p.text(),
    /** Identifiers of APIs (RFC 8707), for its code. */
    resources: p.array().columnType('text[]').default([]),
    scope: p.text(),
    state: p.text().nullable(),
    nonce: p.text().nullable(),
    /** Absent: its client may omit PKCE. */
    codeChallenge: p.text().nullable(),
    /** `dpop_jkt`, for its code. */
    dpopJkt: p.text().nullable(),
    /** Null: `query`. */
    responseMode: p.text().$type<ResponseMode>().nullable(),
    loginHint: p.text().nullable(),
    /** The user that `id_token_hint` names. */
    hintedUserId: p.uuid().nullable(),
    uiLocales: p.text().nullable(),
    /** The setup link that started it: its holder becomes an owner. */
    setupLinkId: p.uuid().nullable(),
    /** The device whose user signs in here: the response goes to it, after their approval (RFC 8628). */
    deviceAuthorizationId: p.uuid().nullable(),
    /** Whether a device key alone is insufficient (`prompt=login`, `max_age`). */
    personRequired: p.boolean().default(false),
    /** Whether the sign-in is to add a passkey (account page). */
    addsPasskey: p.boolean().default(false),
    /** Whether the sign-in is to begin an authenticator app, for the session (account page). */
    addsAuthenticator: p.boolean().default(false),
    /** Authentication context classes that the request asks for. */
    acrValues: p.array().columnType('text[]').nullable(),
    /** Whether it must fail if none is met. */
    acrEssential: p.boolean().default(false),
    /** The organization of its context: asked for or chosen, and checked when the code is issued; null: none. */
    organizationId: p.uuid().nullable(),
    /** The user who chose the organization; the choice counts for no other user. Null: the application requested it. */
    organizationChosenBy: p.uuid().nullable(),
    /** The session that meets the request, except for the consent; null: a sign-in is needed. */
    sessionId: p.uuid().nullable(),
    /** Whether the user must be asked again (`prompt=consent`). */
    asksConsent: p.boolean().default(false),
    /** The user who answered the consent page last. */
    decidedBy: p.uuid().nullable(),
    isAllowed: p.boolean().nullable(),
    /** The answer of an upstream provider whose identity is stored once the person has proved an account in this flow. */
    connectingId: p.uuid().nullable(),
    /** The connection of an organization that could not be reached in this flow, last. */
    failedConnectionId: p.uuid().nullable(),
    /** Sequence number over all sign-ins and requests; independent of process clocks. */
    moment: p.bigint('number').defaultRaw("nextval('moments')").ignoreSchemaChanges('default'),
    /** Whether it can begin again after it has expired: it came by a browser, and was not pushed (RFC 9126, single use). */
    renewable: p.boolean().default(false),
    createdAt: instant(),
    expiresAt: instant().index(),
    finishedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'authorization_requests_hinted_user_id_index',
      expression:
        'create index "authorization_requests_hinted_user_id_index" on "authorization_requests" ("project_id", "hinted_user_id") where ("hinted_user_id" is not null)',
    },
  ],
});

/** A pending authorization request (a flow of the hosted page). Immutable, except for the user's decision and the answers of connections. */
export class AuthorizationRequest extends schema.class {}
schema.setClass(AuthorizationRequest);
