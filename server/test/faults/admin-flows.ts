import { system } from '../../src/domain/kernel/actor.ts';
import { query, sql } from '../../src/domain/kernel/sql.ts';
import { type AdminHarness, bootstrap } from '../admin-harness.ts';
import { argumentsOf, newProjectObjects, operations, type ProjectObjects, selection } from '../admin-operations.ts';
import { makePair } from '../back-end.ts';
import type { Flow } from './fault-lab.ts';

/** Mutations that need the session of a browser: in `console-flows.ts`. */
const ofSessions = ['beginTrial', 'finishTrial'];

/** Returns the arguments; undefined: those of {@link argumentsOf}. */
type Preparation = (harness: AdminHarness, ids: ProjectObjects, tag: string) => Promise<string | undefined | void>;

const team = { name: 'x', type: 'string' } as Parameters<AdminHarness['services']['customAttributes']['create']>[1];

/** Mutations that need more than the objects of a new project. */
const special: Record<string, Preparation> = {
  deleteProject: async (_, { project }, tag) => `(input: { id: "${project}", confirmName: "Project ${tag}" })`,
  registerDelegationKeys: async (_, { client }) => {
    const { signing, encryption } = makePair().publicPem;
    const keys = `signingKey: ${JSON.stringify(signing)}, encryptionKey: ${JSON.stringify(encryption)}`;
    return `(input: { clientId: "${client}", ${keys} })`;
  },
  revokeInvitation: ({ services }, { project, user }) => services.invitations.invite(project, user, system),
  revertExperience: async ({ services }, { project }) => {
    await services.experiences.saveDraft({ projectId: project }, { displayName: 'X' }, system);
    await services.experiences.publish({ projectId: project }, system);
  },
  updateCustomAttribute: async ({ services }, { project }) => {
    await services.customAttributes.create(project, team, system);
    return `(input: { projectId: "${project}", name: "x", description: "Team" })`;
  },
  deleteCustomAttribute: async ({ services }, { project }) => {
    await services.customAttributes.create(project, team, system);
  },
  testSender: async ({ clock }, { project }) => {
    clock.turn(3600);
    return `(input: { projectId: "${project}", channel: MAIL, to: "ops@example.com" })`;
  },
  withdrawSigningKey: async ({ services }) => {
    const key = (await services.keys.list()).find(({ withdrawnAt }) => !withdrawnAt);
    return `(id: "${key?.id}")`;
  },
};

/** Mutations with additional arguments. */
const further: [name: string, mutation: string, Preparation][] = [
  ...['ACTIVATE', 'END_SESSIONS', 'ERASE', 'RESET_FACTORS'].map((action): [string, string, Preparation] => [
    `changeUsers, ${action}`,
    'changeUsers',
    async (_, { project, user }) => `(input: { projectId: "${project}", userIds: ["${user}"], action: ${action} })`,
  ]),
  [
    'createUser, with an invitation',
    'createUser',
    async (_, { project }, tag) =>
      `(input: { projectId: "${project}", email: "new@${tag}.example.com", invite: true })`,
  ],
  [
    'importUsers, with invitations',
    'importUsers',
    async (_, { project }, tag) => {
      const rows = ['a', 'b', 'c'].map((name) => `{ email: "${name}@${tag}.example.com" }`).join(', ');
      return `(input: { projectId: "${project}", rows: [${rows}], invite: true })`;
    },
  ],
  [
    'grantRole, with an invitation',
    'grantRole',
    async (_, { project }, tag) =>
      `(input: { email: "new@${tag}.example.com", role: PROJECT_ADMIN, projectId: "${project}", invite: true })`,
  ],
  [
    'assignRole, to a group',
    'assignRole',
    async (_, { role, group }) => `(input: { roleId: "${role}", groupId: "${group}" })`,
  ],
  [
    'deleteCustomDomain, verified',
    'deleteCustomDomain',
    async ({ services: { db } }, { domain, project }, tag) => {
      const host = `${tag}.example.com`;
      await query(db.alone, sql`update custom_domains set state = 'verified' where id = ${domain}`);
      await query(
        db.alone,
        sql`insert into verified_hosts (host, project_id, verified_at) values (${host}, ${project}, now())`,
      );
    },
  ],
  [
    'replayFailedWebhookDeliveries, of a failed one',
    'replayFailedWebhookDeliveries',
    async ({ services: { db } }, { webhook }) => {
      const failed = sql`update webhook_deliveries set state = 'failed', next_attempt_at = null, settled_at = now()
        where webhook_id = ${webhook}`;
      await query(db.alone, failed);
    },
  ],
  [
    'cancelUserDeletion, of a pending one',
    'cancelUserDeletion',
    async ({ clock, services: { db } }, { project, user }) => {
      const now = clock.now().toISOString();
      await query(
        db.alone,
        sql`insert into account_deletions (project_id, user_id, created_at, due_at)
          values (${project}, ${user}, ${now}, ${now}) returning 1`,
      );
    },
  ],
  [
    'cancelUserRecovery, of an open one',
    'cancelUserRecovery',
    async ({ services }, { project, user }) => {
      await services.recoveries.grant(project, user, { reason: 'Lost', hours: 24 }, system);
    },
  ],
];

/** Every mutation of the admin API. */
export function adminFlows(harness: () => AdminHarness): Flow[] {
  let projects = 0;
  const flow = (name: string, mutation: string, preparation: Preparation | undefined): Flow => ({
    name: `admin: ${name}`,
    again: 'anything',
    prepare: async () => {
      projects += 1;
      const tag = `p${projects}`;
      const { ids } = await newProjectObjects(harness(), tag);
      const given = (await preparation?.(harness(), ids, tag)) ?? argumentsOf(ids, mutation);
      const field = operations.find(([root, one]) => root === 'Mutation' && one === mutation)?.[2];
      if (!field) throw new Error(`no mutation ${mutation}`);
      const text = `mutation { ${mutation}${given} ${selection(field.type, 3)} }`;
      return async () => {
        const { status, headers, body, errors } = await harness().call(text, {}, bootstrap);
        return { status, headers, body, isSuccess: errors.length === 0 };
      };
    },
  });
  const mutations = operations.filter(([root, name]) => root === 'Mutation' && !ofSessions.includes(name));
  return [
    ...mutations.map(([, name]) => flow(name, name, special[name])),
    ...further.map(([name, mutation, preparation]) => flow(name, mutation, preparation)),
  ];
}
