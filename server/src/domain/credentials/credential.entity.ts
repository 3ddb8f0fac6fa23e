import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';

export type CredentialKind = 'device-key' | 'passkey';

export const credentialOrigins = ['mail-code', 'factor', 'passkey', 'import'] as const;
/** The evidence of the sign-in or session that added the credential; `import`: a former system registered it. */
export type CredentialOrigin = (typeof credentialOrigins)[number];

const schema = defineEntity({
  name: 'Credential',
  tableName: 'credentials',
  discriminatorColumn: 'kind',
  properties: {
    project: impliedTenant,
    id: key(),
    kind: p.text().$type<CredentialKind>().default('device-key').index(false),
    user: () => sameProject(User, 'user_id'),
    /** The custom domain where it was created, and the only host where it works; null: the base host. */
    domain: p.text().nullable(),
    name: p.text(),
    userAgent: p.text().nullable(),
    /** Null: added by a mail code, before the column existed. */
    createdBy: p.text().$type<CredentialOrigin>().nullable(),
    createdAt: instant(),
    lastUsedAt: instant(),
    revokedAt: instant().nullable(),
  },
});

/** A key of a user: a registered browser ({@link Device}) or a passkey ({@link Passkey}). */
export class Credential extends schema.class {}
schema.setClass(Credential);
