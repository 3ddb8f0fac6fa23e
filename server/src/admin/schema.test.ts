import { readFileSync } from 'node:fs';
import { type GraphQLField, GraphQLID, type GraphQLInputType, getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { operationRuleOf } from './api/access.ts';
import { adminSchema, printAdminSchema, printPermissions } from './schema.ts';

const golden = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

describe('permissions.txt', () => {
  it('lists the rule of every operation and field: run `npm run gen` after a change', () => {
    expect(printPermissions()).toBe(golden('permissions.txt'));
  });
});

describe('schema.graphql', () => {
  it('matches the code: run `npm run gen` after a change', () => {
    expect(printAdminSchema()).toBe(golden('schema.graphql'));
  });

  it('has the operations that external tools rely on, by name', () => {
    const { Query, Mutation } = { Query: adminSchema().getQueryType(), Mutation: adminSchema().getMutationType() };
    const queries = ['project', 'projects', 'client', 'clients', 'users', 'user', 'auditEvents'];
    expect(Object.keys(Query?.getFields() ?? {})).toEqual(expect.arrayContaining(queries));
    const mutations = [
      ...['createProject', 'updateProject', 'updateSessionPolicy', 'createClient', 'updateClient', 'deleteClient'],
      ...['issueApiKey', 'revokeApiKey', 'issueScimToken', 'revokeScimToken'],
    ];
    expect(Object.keys(Mutation?.getFields() ?? {})).toEqual(expect.arrayContaining(mutations));
  });

  it('names the input of each mutation after it', () => {
    for (const field of Object.values(adminSchema().getMutationType()?.getFields() ?? {})) {
      const input = field.args.find((argument) => argument.name === 'input');
      if (input) expect(String(input.type)).toBe(`${field.name[0]?.toUpperCase()}${field.name.slice(1)}Input!`);
    }
  });
});

describe('the projects whose rows an operation sees', () => {
  const operations = [adminSchema().getQueryType(), adminSchema().getMutationType()].flatMap((type) =>
    type ? Object.values(type.getFields()).map((field) => ({ field, rule: operationRuleOf(type, field) })) : [],
  );
  const namesOf = (found: typeof operations) => found.map(({ field }) => field.name).sort();

  it('are all projects for these operations only; each gives its reason', () => {
    const always = operations.filter(({ rule }) => rule.allProjects && 'always' in rule.allProjects);
    // They create a project, or concern users of the console's project, or several projects.
    const instance = ['createProject', 'devMailbox', 'grantRole', 'projects', 'revokeRole', 'system'];
    expect(namesOf(always)).toEqual(['administeredOrganizations', ...instance]);
    const ofInstance = operations.filter(({ rule }) => rule.allProjects && 'ofInstance' in rule.allProjects);
    const streams = [
      'deleteLogStream',
      'logStream',
      'logStreamTarget',
      'logStreams',
      'testLogStream',
      'updateLogStream',
    ];
    expect(namesOf(ofInstance)).toEqual(['auditEventGroups', 'auditEvents', 'createLogStream', ...streams]);
    for (const { rule } of operations)
      for (const reason of Object.values(rule.allProjects ?? {})) expect(reason).not.toBe('');
  });

  it('are limited to the project of its node, for each operation with an id', () => {
    const withId = operations.filter(({ field }) => hasId(field));
    expect(withId.length).toBeGreaterThan(40);
    // A signing key belongs to the instance.
    expect(namesOf(withId.filter(({ rule }) => !rule.about))).toEqual(['withdrawSigningKey']);
  });

  const hasId = ({ args }: GraphQLField<unknown, unknown>) => args.some(({ type }) => containsId(type));
  const containsId = (type: GraphQLInputType): boolean => {
    const named = getNamedType(type);
    if (isInputObjectType(named)) return Object.values(named.getFields()).some((field) => containsId(field.type));
    return named === GraphQLID;
  };
});
