import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { Project } from '../projects/project.entity.ts';
import { User } from '../users/user.entity.ts';

const schema = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    /** `sid` in ID tokens and logout tokens. */
    id: key(),
    project: () => p.manyToOne(Project).ref().deleteRule('cascade'),
    user: () => p.manyToOne(User).ref().deleteRule('cascade').index(),
    /** SHA-256 of the cookie's secret. */
    secretHash: p.text().unique(),
    deviceId: p.uuid().nullable(),
    /** When the user last proved who they are. */
    authTime: instant(),
    /** When a mail code or a second factor last proved the person; null: never in this session. */
    freshAt: instant().nullable(),
    /** Position of its last sign-in in the order of all sign-ins and requests, independent of any process's clock. */
    moment: p.bigint('number').defaultRaw("nextval('moments')").ignoreSchemaChanges('default'),
    /**
     * Moment of the newest request whose own sign-in proved the person at {@link freshAt}; null: none. Every proof of such a
     * sign-in came after its request, so this answers requests up to that moment and no later one.
     */
    freshMoment: p.bigint('number').nullable(),
    amr: p.array().columnType('text[]'),
    createdAt: instant(),
    lastSeenAt: instant(),
    /** Slides with use; the project's policy at the time. */
    idleExpiresAt: instant(),
    /** Absolute. */
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
