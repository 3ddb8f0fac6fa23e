import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { adminSchema, printAdminSchema, printPermissions } from './schema.ts';

const golden = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

describe('permissions.txt', () => {
  it('lists the rule of every operation and field: run `npm run gen` after a change', () => {
    expect(printPermissions()).toBe(golden('permissions.txt'));
  });
});

describe('schema.graphql', () => {
  it('is what the code makes of it: run `npm run gen` after a change', () => {
    expect(printAdminSchema()).toBe(golden('schema.graphql'));
  });

  it('has the operations that tools outside rely on, by name', () => {
    const { Query, Mutation } = { Query: adminSchema().getQueryType(), Mutation: adminSchema().getMutationType() };
    const queries = ['project', 'projects', 'client', 'clients', 'users', 'user', 'auditEvents'];
    expect(Object.keys(Query?.getFields() ?? {})).toEqual(expect.arrayContaining(queries));
    const mutations = [
      ...['createProject', 'updateProject', 'updateSessionPolicy', 'createClient', 'updateClient', 'deleteClient'],
      ...['issueApiKey', 'revokeApiKey', 'issueScimToken', 'revokeScimToken'],
    ];
    expect(Object.keys(Mutation?.getFields() ?? {})).toEqual(expect.arrayContaining(mutations));
  });

  it('calls the input of an operation by its name', () => {
    for (const field of Object.values(adminSchema().getMutationType()?.getFields() ?? {})) {
      const input = field.args.find((argument) => argument.name === 'input');
      if (input) expect(String(input.type)).toBe(`${field.name[0]?.toUpperCase()}${field.name.slice(1)}Input!`);
    }
  });
});
