import { system } from '../src/domain/kernel/actor.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { Services } from '../src/services.ts';
import { pngOf } from './pictures.ts';

/** Secrets of its receivers, to which a document refers. */
export const receiverSecrets = {
  webhook: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
  logStream: 'Bearer collector-token',
};

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
  return project;
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
