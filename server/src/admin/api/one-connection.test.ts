/** A change that needs a second connection of the pool while it holds one would wait for itself. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { system } from '../../domain/kernel/actor.ts';
import type { Project } from '../../domain/projects/project.entity.ts';
import { keyIn } from '../../domain/projects/tenant.ts';

let harness: AdminHarness;
let project: Project;
let make: Factories;

beforeAll(async () => {
  harness = await openAdminHarness({ poolSize: 1 });
  make = new Factories(harness.services, harness.clock);
  project = await make.project({ name: 'Acme', signUp: 'approval', organizationsEnabled: true });
});
afterAll(() => harness.close());

it('approves a sign-up, whose mail has a link', async () => {
  const { client } = await make.client(project, { redirectUris: ['com.example.app:/callback'] });
  const id = await harness.signUpRequestOf(client);
  const user = await harness.services.signUpApprovals.approve(keyIn(project.id, id), system);
  expect(user.email).toEqual(expect.stringContaining('@'));
});

it('creates and sends links of the portal', async () => {
  const { portalLinks } = harness.services;
  const place = await harness.services.organizations.create(project.id, { slug: 'north', name: 'North' }, system);
  const given = { can: ['domains' as const], email: 'it@north.example' };
  const { portalLink } = await portalLinks.create(keyIn(project.id, place.id), given, system);
  await expect(portalLinks.send(keyIn(project.id, portalLink.id), 'en', system)).resolves.toMatchObject({
    id: portalLink.id,
  });
});
