import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { system } from '../src/domain/kernel/actor.ts';
import { type CustomAttributeInput, customUrn as urn } from '../src/domain/users/custom/definition.ts';
import { type ScimApp, type ScimProject, startScimApp } from './scim-app.ts';

/** An app for the tests of a file, a new project for each, and short forms of requests about custom attributes. */
export function customAttributesHarness() {
  let app: ScimApp;
  let project: ScimProject;
  beforeAll(async () => {
    app = await startScimApp();
  });
  afterAll(async () => {
    expect(app.bugs).toEqual([]);
    await app.close();
  });
  beforeEach(async () => {
    project = await app.project();
  });

  const define = (input: CustomAttributeInput, id = project.id) =>
    app.services.customAttributes.create(id, input, system);
  let number = 0;
  const create = (custom: unknown, more: object = {}, query = '') => {
    number += 1;
    return project.request('POST', `/Users${query}`, { userName: `user${number}`, [urn]: custom, ...more });
  };
  return {
    get app() {
      return app;
    },
    get project() {
      return project;
    },
    define,
    string: (name: string, more: Partial<CustomAttributeInput> = {}) => define({ name, type: 'string', ...more }),
    create,
    created: async (custom: unknown, more: object = {}) => {
      const { status, body } = await create(custom, more);
      expect({ status, body }).toMatchObject({ status: 201 });
      return body.id as string;
    },
    patch: (id: string, ...operations: object[]) =>
      project.request('PATCH', `/Users/${id}`, { Operations: operations }),
    read: async (id: string, query = '') => (await project.request('GET', `/Users/${id}${query}`)).body[urn],
    /** The ids of the users that match, or the keyword of the refusal. */
    found: async (filter: string, more = '') => {
      const { status, body } = await project.request('GET', `/Users?filter=${encodeURIComponent(filter)}${more}`);
      return status === 200 ? body.Resources.map(({ id }: { id: string }) => id) : body.scimType;
    },
  };
}
