import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { User } from '../users/user.entity.ts';
import { Connection } from './connection.entity.ts';

const schema = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  properties: {
    project: impliedTenant,
    id: key(),
    connection: () => sameProject(Connection, 'connection_id'),
    user: () => sameProject(User, 'user_id'),
    issuer: p.text(),
    /** `sub`, at most 255 characters. */
    subject: p.text(),
    /** The address or name that the provider gave at the last sign-in, for display only. */
    label: p.text().nullable(),
    createdAt: instant(),
    lastUsedAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'identities_project_id_connection_id_issuer_subject_unique',
      properties: ['project', 'connection', 'issuer', 'subject'],
    },
  ],
  indexes: [{ name: 'identities_project_id_user_id_index', properties: ['user'] }],
});

/** Links an account at an upstream provider to a user. */
export class Identity extends schema.class {}
schema.setClass(Identity);
