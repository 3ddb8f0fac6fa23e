import { system } from '../src/domain/kernel/actor.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import { User } from '../src/domain/users/user.entity.ts';
import type { Services } from '../src/services.ts';
import { pngOf } from './pictures.ts';

interface Of {
  projectId: string;
  clientId: string;
  userId: string;
  /** Part of addresses. */
  tag: string;
}

/**
 * An object of each noun of a project, by the name of its noun; for the tests of the admin API and of two tenants. Those that
 * send something by themselves are not among them.
 */
export async function addObjects(services: Services, { projectId, clientId, userId, tag }: Of) {
  const client = keyIn(projectId, clientId);
  const registration = await services.registrationTokens.issue(projectId, { name: 'CI' }, system);
  const scopes = [{ key: 'read', description: 'Read' }];
  const identifier = `https://${tag}.api.example.com`;
  const api = await services.apis.create({ projectId, identifier, name: 'Orders', scopes, userKeys: true }, system);
  const wanted = { apiId: api.id, name: 'Export', scopes: ['read'], networks: [], days: 1 };
  const { key } = await services.db.transaction(async (em) =>
    services.userKeys.create(em, await em.findOneOrFail(User, { project: projectId, id: userId }), wanted, system),
  );
  const domain = await services.domains.create(projectId, `${tag}.example.com`, system);
  const connectionSecret = `secret of the provider of ${tag}`;
  const oidc = { issuer: `https://${tag}.idp.example.com`, clientId: 'latchkey', clientSecret: connectionSecret };
  const connection = await services.connections.create(
    { projectId, kind: 'oidc', preset: 'generic', name: 'IdP', oidc },
    system,
  );
  const staff = { displayName: 'Staff', externalId: 'g-1' };
  const group = await services.groups.create(projectId, staff, [userId], system);
  const localGroup = await services.localGroups.create(projectId, 'On call', system);
  const role = await services.roles.create(client, { key: 'editor', name: 'Editor' }, system);
  const organization = await services.organizations.create(projectId, { slug: 'acme', name: 'Acme' }, system);
  const organizationRole = await services.organizationRoles.create(projectId, { key: 'admin', name: 'Admin' }, system);
  const organizationMembership = await services.memberships.add(organization, { userId, roleKeys: ['admin'] }, system);
  await services.projects.update(projectId, { organizationsEnabled: true }, system);
  const asked = { email: `eve@${tag}.example.com` };
  const organizationInvitation = await services.organizationInvitations.invite(organization, asked, system);
  const organizationDomain = await services.organizationDomains.add(organization, `${tag}.example.com`, system);
  const contact = { email: `it@${tag}.example.com`, can: ['domains'] } as const;
  const { portalLink } = await services.portalLinks.create(organization, contact, system);
  const scim = await services.directories.issueScimToken({ projectId, name: 'Okta' }, system);
  const accessRule = await services.accessRules.grant(client, { userId }, system);
  const logo = await services.experiences.addLogo(projectId, pngOf(64, 64), system);
  return {
    ids: {
      registrationToken: registration.registrationToken.id,
      api: api.id,
      userKey: key.id,
      domain: domain.id,
      connection: connection.id,
      group: group.id,
      localGroup: localGroup.id,
      role: role.id,
      organization: organization.id,
      organizationRole: organizationRole.id,
      organizationMembership: organizationMembership.id,
      organizationInvitation: organizationInvitation.id,
      organizationDomain: organizationDomain.id,
      portalLink: portalLink.id,
      scimToken: scim.scimToken.id,
      accessRule: accessRule.id,
      logo: logo.id,
    },
    scimToken: scim.token,
    connectionSecret,
  };
}
