import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

/** An admin who uses one application as the user of a session (decisions/0422). */
export interface Impersonation {
  /** A user of the console's project. */
  adminId: string;
  /** Who acts in its tokens (RFC 8693 section 4.1). */
  act: { iss: string; sub: string };
  reason: string;
  clientId: string;
  /** The organization of requests that name none; null: none. */
  organizationId: string | null;
}

const schema = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    project: impliedTenant,
    /** `sid` in ID tokens and logout tokens. */
    id: key(),
    user: () => sameProject(User, 'user_id'),
    /** The custom domain whose cookie it is; null: the base host. */
    domain: p.text().nullable(),
    /** SHA-256 of the cookie's secret; see `presented`. */
    secretHash: p.text().index(),
    /** The browser's device; of a session that began with a passkey, that passkey. */
    deviceId: p.uuid().nullable(),
    /** Time of the last sign-in; becomes `auth_time`. */
    authTime: instant(),
    /** Time of the last mail code or second factor; null: none in this session. */
    freshAt: instant().nullable(),
    /** Sequence number of its last sign-in, over all sign-ins and requests; independent of process clocks. */
    moment: p.bigint('number').defaultRaw("nextval('moments')").ignoreSchemaChanges('default'),
    /**
     * `moment` of the newest request whose own sign-in proved the person at {@link freshAt}; null: none. Every proof of
     * such a sign-in came after its request, so it satisfies requests up to that moment and none later.
     */
    freshMoment: p.bigint('number').nullable(),
    /**
     * The passkey that its last sign-in used or created, if it verified the user; null: none, or the sign-in was
     * before release 1.0.
     */
    passkeyId: p.uuid().nullable(),
    amr: p.array().columnType('text[]'),
    /** See {@link SessionProof.connected}. */
    connected: p.json<Record<string, string>>().nullable(),
    /** The admin who acts as the user; null: the session is the user's own. */
    impersonation: p.json<Impersonation>().nullable(),
    createdAt: instant(),
    lastSeenAt: instant(),
    /** Idle limit: slides with use, by the policy at that time. */
    idleExpiresAt: instant(),
    /** Absolute limit. */
    expiresAt: instant().index(),
    endedAt: instant().nullable(),
    endReason: p.text().$type<'logout' | 'replaced' | 'deactivated' | 'revoked'>().nullable(),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
  },
});

/** An SSO session of one user in one browser, in one project. */
export class Session extends schema.class {}
schema.setClass(Session);
