import { system } from '../src/domain/kernel/actor.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { Services } from '../src/services.ts';
import { pngOf } from './pictures.ts';
import { rsaKey } from './saml.ts';

/** Secrets of its receivers, to which a document refers. */
export const receiverSecrets = {
  webhook: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
  logStream: 'Bearer collector-token',
};

/** The client secret of the connection *Okta* of the organization. */
export const connectionSecret = 'secret-of-the-client-at-okta';

/** The document of a configured project, with references to its secrets. */
export function withSecrets(document: Record<string, unknown>): Record<string, unknown> {
  type Items = Record<string, unknown>[];
  const { webhook, logStream } = receiverSecrets;
  const [webhooks, logStreams] = [document['webhooks'] as Items, document['logStreams'] as Items];
  const secretOf = ({ name }: Record<string, unknown>) => (name === 'Okta' ? { secret: connectionSecret } : {});
  return {
    ...document,
    webhooks: webhooks.map((one) => ({ ...one, secret: webhook })),
    logStreams: logStreams.map((one) => (one['header'] ? { ...one, secret: logStream } : one)),
    organizations: (document['organizations'] as Items).map((one) => ({
      ...one,
      connections: (one['connections'] as Items).map((connection) => ({ ...connection, ...secretOf(connection) })),
    })),
  };
}

/** The metadata of a SAML provider. */
export const samlMetadata = (entityId: string, host: string, { certificate } = rsaKey()): string =>
  `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">
    <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${Buffer.from(
        certificate,
      ).toString('base64')}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
      <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://${host}/sso"/>
    </IDPSSODescriptor></EntityDescriptor>`;

/** The project Shop with every kind of resource that files configure. */
export async function configuredProject(services: Services): Promise<Project> {
  const project = await services.projects.create({ name: 'Shop', slug: 'shop', smsCountries: ['SE'] }, system);
  const { id } = project;
  await services.customAttributes.create(
    id,
    { name: 'costCenter', type: 'string', visibleTo: ['applications'] },
    system,
  );
  const scopes = ['read', 'write'].map((key) => ({ key, description: `${key} orders` }));
  const api = await services.apis.create(
    { projectId: id, identifier: 'https://orders.example.com', name: 'Orders', scopes },
    system,
  );
  const redirectUris = ['https://app.example.com/callback'];
  const { client } = await services.clients.create(
    { projectId: id, name: 'Portal', kind: 'single-page', redirectUris },
    system,
  );
  await services.roles.create(client, { key: 'editor', name: 'Editor' }, system);
  await services.accessRules.grant(client, { roleKey: 'editor' }, system);
  await services.claims.update(client, { mappings: [{ claim: 'cost', attribute: 'custom.costCenter' }] }, system);
  await services.apis.grant(client, api.id, { scopes: ['read'], introspects: false }, system);
  const logo = await services.experiences.addLogo(id, pngOf(40, 40), system);
  await services.experiences.saveDraft(
    { projectId: id },
    { displayName: 'Acme', accent: '#123456', logoId: logo.id },
    system,
  );
  await services.experiences.publish({ projectId: id }, system);
  await receivers(services, id);
  await organization(services, id);
  return project;
}

async function organization(services: Services, projectId: string): Promise<void> {
  const { connections, organizationDomains, organizationRoles, organizations } = services;
  await organizationRoles.create(projectId, { key: 'admin', name: 'Admin' }, system);
  const acme = await organizations.create(
    projectId,
    { slug: 'acme', name: 'Acme', metadata: { plan: 'pro' }, defaultRoleKeys: ['admin'] },
    system,
  );
  await organizationDomains.add(acme, 'acme.example.com', system);
  const of = { projectId, organizationId: acme.id };
  const oidc = { issuer: 'https://acme.okta.com', clientId: 'shop', clientSecret: connectionSecret };
  const okta = { ...of, kind: 'oidc', preset: 'okta', name: 'Okta', jit: true, oidc } as const;
  await connections.setState(await connections.create(okta, system), 'enabled', system);
  const google = { clientId: 'shop', hostedDomain: 'acme.example.com' };
  await connections.create({ ...of, kind: 'oidc', preset: 'google', name: 'Google', oidc: google }, system);
  const saml = { metadataXml: samlMetadata('urn:acme', 'adfs.acme.example.com') };
  await connections.create({ ...of, kind: 'saml', preset: 'adfs', name: 'ADFS', saml }, system);
  await connections.create({ ...of, kind: 'saml', preset: 'okta', name: 'Draft', saml: {} }, system);
}

async function receivers({ domains, webhooks, logStreams }: Services, id: string): Promise<void> {
  await domains.create(id, 'login.example.com', system);
  const url = 'https://hooks.example.com/orders?token=path-token';
  const { webhook, logStream } = receiverSecrets;
  await webhooks.create(id, { url, description: 'Orders', types: ['user.*'] }, system, webhook);
  const settings = { description: 'Collector', types: ['signin.*'], format: 'json-lines' as const, gzip: true };
  const target = 'https://logs.example.com/collect';
  await logStreams.create(id, 'http', { ...settings, target, header: 'Authorization', secret: logStream }, system);
  await logStreams.create(
    id,
    'syslog',
    { ...settings, target: 'tls://logs.example.com:6514', gzip: false, header: null, secret: null },
    system,
  );
}
