import {
  type GraphQLField,
  GraphQLID,
  GraphQLObjectType,
  GraphQLSchema,
  getIntrospectionQuery,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import {
  callOperation,
  newProjectObjects,
  operations,
  type ProjectObjects,
  type Root,
} from '../../../test/admin-operations.ts';
import { snapshot } from '../../../test/admin-snapshot.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { adminSchema } from '../schema.ts';
import { fieldRuleOf, isRoot, operationRuleOf } from './access.ts';
import { authorizeSchema } from './authorize.ts';

const schema = adminSchema();
let harness: AdminHarness;
/** Ids of the requested project and its objects. */
let ours: ProjectObjects;
let secrets: string[];
let viewer: Record<string, string>;
let foreignAdmin: Record<string, string>;

beforeAll(async () => {
  harness = await openAdminHarness();
  const foreign = await harness.services.projects.create({ name: 'Theirs' }, system);
  ({ ids: ours, secrets } = await newProjectObjects(harness, 'ours'));
  viewer = await harness.tokenOf('project_viewer', ours.project);
  foreignAdmin = await harness.tokenOf('project_admin', foreign.id);
});
afterAll(() => harness.close());

function roleFor(root: Root, name: string) {
  const type = schema.getType(root) as GraphQLObjectType;
  return operationRuleOf(type, type.getFields()[name] as GraphQLField<unknown, unknown>).role;
}

const call = (root: Root, field: GraphQLField<unknown, unknown>, headers: Record<string, string>) =>
  callOperation(harness, ours, [root, field], headers);

describe('every operation', () => {
  it.each(operations)('%s.%s rejects unauthenticated callers', async (root, _name, field) => {
    const wrong = [
      {},
      { Authorization: 'Bearer nothing' },
      { Authorization: `Bearer ${secrets[0]}` },
      { Authorization: '' },
    ];
    for (const headers of [...wrong, { Authorization: `Bearer ${secrets[1]}` }, { Authorization: 'Basic b3duZXI6' }]) {
      const answer = await call(root, field, headers as Record<string, string>);
      expect([answer.status, answer.code, answer.data]).toEqual([401, 'unauthenticated', undefined]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it.each(operations)("%s.%s returns nothing to another project's admin", async (root, name, field) => {
    const before = await snapshot(harness);
    const answer = await call(root, field, foreignAdmin);
    for (const id of Object.values(ours)) expect(answer.body).not.toContain(id);
    if (roleFor(root, name) === 'admin') expect(answer.errors).toEqual([]);
    else expect(['not-found', 'forbidden']).toContain(answer.code);
    expect(await snapshot(harness)).toEqual(before);
  });

  it.each(operations.filter(([root]) => root === 'Mutation'))(
    '%s.%s is forbidden for a viewer',
    async (root, _name, field) => {
      const before = await snapshot(harness);
      expect((await call(root, field, viewer)).code).toBe('forbidden');
      expect(await snapshot(harness)).toEqual(before);
    },
  );

  it.each(operations.filter(([root]) => root === 'Query'))(
    '%s.%s is readable by a viewer only if its rule allows it',
    async (root, name, field) => {
      const answer = await call(root, field, viewer);
      const allowed = ['admin', 'project_viewer'].includes(roleFor(root, name));
      expect([answer.code, answer.errors.length === 0]).toEqual(allowed ? [undefined, true] : ['forbidden', false]);
    },
  );

  it.each(operations.filter(([root]) => root === 'Query'))(
    '%s.%s returns no secret, even to the owner',
    async (root, _name, field) => {
      const answer = await call(root, field, (await harness.tokenOf('owner')) as Record<string, string>);
      expect(answer.errors).toEqual([]);
      for (const secret of secrets) expect(answer.body).not.toContain(secret);
      expect(answer.body).not.toMatch(/hash|sealed|private/i);
      expect(answer.body).not.toMatch(/"d"\s*:/);
    },
  );
});

describe('every field', () => {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__') && !isRoot(type))
    .flatMap((type) =>
      Object.values((type as GraphQLObjectType).getFields())
        .filter((field) => fieldRuleOf(type as GraphQLObjectType, field) !== 'inherited')
        .map((field) => [type.name, field.name, field] as const),
    );

  it.each(fields)('%s.%s is refused without a role in its project', (type, _name, field) => {
    const projectId = ours.project;
    const inProject = {
      id: projectId,
      project: { id: projectId },
      client: { getEntity: () => ({ project: { id: projectId } }) },
    };
    const caller = {
      kind: 'admin-token',
      name: 'foreign',
      grants: { owner: false, projects: new Map([['other', 'project_admin']]), organizations: new Map() },
    };
    const ask = () => field.resolve?.(inProject, {}, { caller } as never, {} as never);
    expect(ask, type).toThrow(Refusal);
  });

  const id = { type: GraphQLID };
  const build = (query: object, node: object) => {
    const Node = new GraphQLObjectType({ name: 'Node', fields: { id }, ...node });
    const Query = new GraphQLObjectType({ name: 'Query', fields: { node: { type: Node, ...query } } });
    return () => authorizeSchema(new GraphQLSchema({ query: Query }));
  };
  const operation = { extensions: { operation: { role: 'admin' } } };
  const access = { extensions: { access: { role: 'owner', projectOf: () => null } } };

  it('without a rule, on itself or on its type, fails at startup', () => {
    expect(build(operation, {})).toThrow('Node.id has no @Access rule');
    expect(build(operation, access)).not.toThrow();
    expect(build(operation, { fields: { id: { ...id, ...access }, name: id } })).toThrow('Node.name has no @Access');
    expect(build({}, access)).toThrow('Query.node has no @Requires rule');
    expect(build(access, access)).toThrow('Query.node has no @Requires rule');
    const query = new GraphQLObjectType({ name: 'Query', fields: { id }, ...access });
    expect(() => authorizeSchema(new GraphQLSchema({ query }))).toThrow('Query.id has no @Requires rule');
  });

  it('can have a stricter rule than its type', () => {
    const schema = build(operation, { fields: { id: { ...id, ...access } }, extensions: { access: 'inherited' } })();
    const { resolve } = (schema.getType('Node') as GraphQLObjectType).getFields()['id'] as GraphQLField<
      unknown,
      unknown
    >;
    const caller = { grants: { owner: false, projects: new Map([['p', 'project_admin']]), organizations: new Map() } };
    expect(() => resolve?.({ id: '1' }, {}, { caller } as never, {} as never)).toThrow(Refusal);
  });
});

describe('introspection', () => {
  it('returns the whole schema in one request to admins only', async () => {
    const known = await harness.call(getIntrospectionQuery({ inputValueDeprecation: true, oneOf: false }), {}, viewer);
    expect(known.data.__schema.types.length).toBeGreaterThan(40);
    const stranger = await harness.call(getIntrospectionQuery(), {}, {});
    expect([stranger.status, stranger.data]).toEqual([401, undefined]);
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
