import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { columnsOf } from '../kernel/resource.ts';
import { type PasskeyPolicy, projectFields, sessionPolicyFields } from './project.resource.ts';

const schema = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    id: key(),
    /** Path of its issuer, `/p/{slug}`; never changes, since applications and their users' accounts depend on `iss`. */
    slug: p
      .text()
      .unique()
      .defaultRaw(`'p-' || replace(gen_random_uuid()::text, '-', '')`)
      .ignoreSchemaChanges('default'),
    /** `console` is the project of the admins, `demo` the sample; both are created at the first start. */
    builtIn: p.text().$type<'console' | 'demo'>().nullable().unique(),
    ...columnsOf(projectFields),
    ...columnsOf(sessionPolicyFields),
    /** Whether users can create passkeys and sign in with them. Written with the policy. */
    passkeys: p.boolean().default(true),
    /** Unused; commit 5ffac69 selects it. The release after 1.0 drops it. */
    erasures: p.integer().default(0),
    version: p.integer().default(1),
    createdAt: instant(),
    updatedAt: instant(),
  },
});

/** A tenant with its users, clients, directory and policies. Every lookup is scoped to one. */
export class Project extends schema.class {}
schema.setClass(Project);

/** The current policy: `passkeys` decides where they differ, as in rows and exports from before release 1.0. */
export function passkeyPolicyOf({
  passkeys,
  passkeyPolicy,
}: Pick<Project, 'passkeys' | 'passkeyPolicy'>): PasskeyPolicy {
  if (!passkeys) return 'off';
  return passkeyPolicy === 'off' ? 'allowed' : passkeyPolicy;
}
