import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, type Answer, bootstrap, openAdminHarness } from '../../../test/admin-harness.ts';
import { callOperation, newProjectObjects, operations, type ProjectObjects } from '../../../test/admin-operations.ts';
import { rows } from '../../../test/rows.ts';
import { keyIn } from '../../domain/projects/tenant.ts';

/** Mutations and their events, in an order in which each has something to change. */
const recorded: Record<string, string[]> = {
  updateProject: ['project.updated: project'],
  updateSessionPolicy: ['project.session-policy-updated: project'],
  revokeUserKey: ['user-key.revoked: userKey'],
  createProject: ['project.created: new project, of another project'],
  saveExperienceDraft: [],
  publishExperience: ['experience.published: project'],
  createClient: ['client.created: new client', 'api-key.issued: new api-key', 'api-key.issued: new api-key'],
  updateClient: ['client.updated: client'],
  updateClaimSettings: ['client.claims_updated: client'],
  issueApiKey: ['api-key.issued: new api-key'],
  issueClientSecret: ['client-secret.issued: new client-secret'],
  issueRegistrationToken: ['registration-token.issued: new registration-token'],
  rotateDelegationKeys: ['delegation-key.generated: new delegation-key'],
  createApi: ['api.created: new api'],
  updateApi: ['api.updated: api'],
  setApiGrant: ['api.granted: client'],
  createCustomAttribute: ['custom-attribute.created: new custom-attribute'],
  createCustomDomain: ['domain.added: new domain'],
  createRole: ['role.created: new role'],
  updateRole: ['role.updated: role'],
  assignRole: ['role.assigned: user'],
  unassignRole: ['role.unassigned: user'],
  grantAccess: ['access.granted: group'],
  revokeAccess: ['access.revoked: user'],
  createOrganization: ['organization.created: new organization'],
  updateOrganization: ['organization.updated: organization'],
  createOrganizationRole: ['organization-role.created: new organization-role'],
  updateOrganizationRole: ['organization-role.updated: organizationRole'],
  unassignOrganizationRole: ['organization-role.unassigned: user'],
  assignOrganizationRole: ['organization-role.assigned: user'],
  updateOrganizationMember: ['organization-membership.updated: user'],
  inviteOrganizationMember: ['organization-invitation.sent: new organization-invitation'],
  resendOrganizationInvitation: ['organization-invitation.sent: organizationInvitation'],
  revokeOrganizationInvitation: ['organization-invitation.revoked: organizationInvitation'],
  addOrganizationDomain: ['organization-domain.added: new organization-domain'],
  verifyOrganizationDomain: ['organization-domain.verified: organizationDomain'],
  createPortalLink: ['portal-link.created: new portal-link'],
  sendPortalLink: ['portal-link.sent: portalLink'],
  revokePortalLink: ['portal-link.revoked: portalLink'],
  removeOrganizationMember: ['organization-membership.ended: user'],
  addOrganizationMember: ['organization-membership.created: user'],
  createGroup: ['group.created: new group'],
  updateGroup: ['group.updated: group'],
  removeGroupMembers: ['group.updated: group'],
  addGroupMembers: ['group.updated: group'],
  createUser: ['user.created: new user'],
  declineSignUp: ['user.approval_refused: signUpRequest'],
  approveSignUp: ['user.approval_given: signUpRequest', 'user.created: new user'],
  updateUser: ['user.updated: user'],
  inviteUser: ['user.invited: user'],
  grantUserRecovery: ['recovery.granted: user'],
  cancelUserRecovery: ['recovery.cancelled: user'],
  issueScimToken: ['scim-token.issued: new scim-token'],
  grantRole: ['user.created: new user, of another project', 'membership.granted: new membership'],
  issueAdminToken: ['admin-token.issued: new admin-token'],
  createWebhook: ['webhook.created: new webhook'],
  testWebhook: ['webhook.tested: webhook'],
  replayWebhookDelivery: ['webhook.replayed: webhook'],
  rotateWebhookSecret: ['webhook.secret-rotated: webhook'],
  updateWebhook: ['webhook.updated: webhook'],
  createConnection: ['connection.created: new connection'],
  updateConnection: ['connection.updated: connection'],
  setConnectionState: ['connection.enabled: connection'],
  testConnection: [],
  createLogStream: ['log-stream.created: new log-stream'],
  testLogStream: ['log-stream.tested: logStream'],
  updateLogStream: ['log-stream.updated: logStream'],
  rotateSigningKeys: [
    'signing-key.published: new signing-key, of another project',
    'signing-key.published: new signing-key, of another project',
  ],
  rotateSamlKey: ['saml-key.published: new saml-key'],
  retryLogoutDelivery: ['logout-delivery.retried: logoutDelivery'],
  revokeRefreshGrant: ['refresh-grant.revoked: user'],
  revokeRefreshGrants: ['refresh-grants.revoked: client'],
  endUserSession: ['session.ended: session'],
  revokeUserPasskey: ['passkey.revoked: passkey'],
  revokeUserDevice: ['device.revoked: device'],
  revokeConsent: ['access.removed: user'],
  changeUsers: ['user.updated: user'],
  revokeRole: ['membership.revoked: membership'],
  revokeAdminToken: ['admin-token.revoked: adminToken'],
  revokeApiKey: ['api-key.revoked: apiKey'],
  revokeClientSecret: ['client-secret.revoked: clientSecret'],
  revokeRegistrationToken: ['registration-token.revoked: registrationToken'],
  revokeDelegationKey: ['delegation-key.revoked: delegationKey'],
  revokeScimToken: ['scim-token.revoked: scimToken'],
  deleteApi: ['api.deleted: api'],
  deleteCustomAttribute: ['custom-attribute.deleted: new custom-attribute'],
  deleteOrganizationRole: ['organization-role.deleted: organizationRole'],
  removeOrganizationDomain: ['organization-domain.removed: organizationDomain'],
  deleteOrganization: ['organization.deleted: organization'],
  deleteRole: ['role.deleted: role'],
  deleteClient: ['client.deleted: client'],
  deleteConnection: ['connection.deleted: connection'],
  deleteCustomDomain: ['domain.removed: domain'],
  deleteLogStream: ['log-stream.deleted: logStream'],
  deleteGroup: ['group.deleted: group'],
  deleteWebhook: ['webhook.deleted: webhook'],
  deleteProject: ['project.deleted: project, of another project'],
};

/** Mutations that change nothing with the arguments of {@link callOperation}. */
const idle = [
  ...[
    'beginImpersonation',
    'endImpersonation',
    'beginTrial',
    'finishTrial',
    'cancelUserDeletion',
    'checkCustomDomain',
    'checkOrganizationDomain',
    'discardExperienceDraft',
    'revertExperience',
    'importUsers',
  ],
  ...['registerDelegationKeys', 'replayFailedWebhookDeliveries', 'revokeInvitation', 'testDirectory', 'testSender'],
  ...['updateCustomAttribute', 'updateCustomValues', 'withdrawSigningKey'],
];

let harness: AdminHarness;
let ours: ProjectObjects;
beforeAll(async () => {
  harness = await openAdminHarness();
  ours = (await newProjectObjects(harness, 'ours')).ids;
  // `revokeRefreshGrant` ends the other one.
  await harness.refreshGrantOf(keyIn(ours.project, ours.client), { id: ours.user });
});
afterAll(() => harness.close());

interface EventRow {
  type: string;
  actor_kind: string;
  project_id: string;
  subject_kind: string;
  subject_id: string;
}

/** The events of a call, as `type: subject`. */
async function eventsOf(call: () => Promise<Answer>): Promise<string[]> {
  const { db } = harness.services;
  const before = await rows<{ id: string }>(db, 'select id from audit_log');
  expect((await call()).errors).toEqual([]);
  const events = await rows<EventRow>(
    db,
    `select type, actor_kind, project_id, subject_kind, subject_id from audit_log
      where id <> all(?::uuid[]) and type <> 'bootstrap-token.used' order by id`,
    [before.map(({ id }) => id)],
  );
  expect(new Set(events.map((event) => event.actor_kind))).toEqual(new Set(events.map(() => 'bootstrap-token')));
  return events.map(({ type, project_id: projectId, subject_kind: kind, subject_id: id }) => {
    const [known] = Object.entries(ours).find((object) => object[1] === id) ?? [];
    return `${type}: ${known ?? `new ${kind}`}${projectId === ours.project ? '' : ', of another project'}`;
  });
}

const mutations = operations.filter(([root]) => root === 'Mutation');

it('this file has the events of every mutation', () => {
  const names = [...Object.keys(recorded), ...idle];
  expect(names.toSorted()).toEqual(mutations.map(([, name]) => name).toSorted());
});

it('records the removal of an API from an application, and a withdrawn key', async () => {
  const setGrant = (scopes: string) => () =>
    harness.call(`mutation { setApiGrant(input: { clientId: "${ours.client}", apiId: "${ours.api}", scopes: ${scopes} })
      { scopes } }`);
  expect(await eventsOf(setGrant('["read"]'))).toEqual(['api.granted: client']);
  expect(await eventsOf(setGrant('[]'))).toEqual(['api.revoked: client']);
  expect(await eventsOf(setGrant('[]'))).toEqual([]);
  const [key] = (await harness.call('{ signingKeys { id } }')).data.signingKeys;
  const withdrawn = await eventsOf(() => harness.call(`mutation { withdrawSigningKey(id: "${key.id}") { id } }`));
  expect(withdrawn).toContain('signing-key.withdrawn: new signing-key, of another project');
});

it.each(Object.entries(recorded))('records %s', async (name, events) => {
  const [root, , field] = mutations.find(([, one]) => one === name) as (typeof mutations)[number];
  expect(await eventsOf(() => callOperation(harness, ours, [root, field], bootstrap))).toEqual(events);
});
