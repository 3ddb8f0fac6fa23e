/** PostgreSQL confines an operation of the admin API to its project, even if a service forgets its condition. */
import {
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLObjectTypeConfig,
  GraphQLSchema,
  graphql,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OperationRule } from '../src/admin/api/access.ts';
import { authorizeSchema } from '../src/admin/api/authorize.ts';
import type { AdminContext, AdminRequest } from '../src/admin/api/context.ts';
import { everything } from '../src/domain/admins/permission.ts';
import { system } from '../src/domain/kernel/actor.ts';
import { inRequest } from '../src/domain/kernel/scope.ts';
import { query, type Statement, sql } from '../src/domain/kernel/sql.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { buildTestApp, type TestApp } from './build-app.ts';

let app: TestApp;
let one: User;
let other: User;
let schema: GraphQLSchema;

/** A field whose statement has no condition on the project; its value is the projects of the rows. */
const unscoped = (statement: Statement<{ project: string }>) => ({
  type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
  resolve: async (_node: unknown, _args: unknown, { em }: AdminContext) =>
    (await query(em, statement)).map(({ project }) => project),
});
const seen = unscoped(sql`select project_id as project from users`);
const changed = unscoped(sql`update users set display_name = 'Changed' returning project_id as project`);
const removed = unscoped(sql`delete from clients returning project_id as project`);

const fields = (name: string, of: GraphQLObjectTypeConfig<unknown, AdminContext>['fields']) =>
  new GraphQLObjectType({ name, fields: of, extensions: { access: 'inherited' } });

beforeAll(async () => {
  app = await buildTestApp();
  const userOfNew = async () => {
    const project = await app.make.project();
    await app.make.client(project);
    return app.make.user(project);
  };
  [one, other] = [await userOfNew(), await userOfNew()];
  const within = fields('Within', { seen });
  const result = fields('Result', { seen, changed, removed, within: { type: within, resolve: () => ({}) } });
  const operation = (rule: OperationRule) => ({
    type: result,
    args: { id: { type: GraphQLID } },
    resolve: () => ({}),
    extensions: { operation: rule },
  });
  const root = (name: string) =>
    new GraphQLObjectType<unknown, AdminRequest>({
      name,
      fields: {
        ofUser: operation({ role: 'project_admin', about: { user: 'id' } }),
        ofInstance: operation({ role: 'owner' }),
        ofAll: operation({ role: 'owner', allProjects: { always: 'it is listed' } }),
      },
    });
  schema = authorizeSchema(new GraphQLSchema({ query: root('Query'), mutation: root('Mutation') }));
});
afterAll(() => app.close());

async function run(source: string): Promise<Record<string, unknown>> {
  const contextValue: AdminRequest = {
    caller: { kind: 'bootstrap-token', grants: everything, name: 'owner', turnsOf: 'test' },
    actor: system,
    requestId: '',
    now: app.clock.now(),
    domain: app.services as never,
    db: app.services.db,
    setFlowCookie: () => undefined,
    operations: new Map(),
  };
  const { data, errors } = await inRequest(() => graphql({ schema, source, contextValue }));
  expect(errors).toBeUndefined();
  return JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
}

it('an operation sees only the rows of its project, in each field, during operations of other projects', async () => {
  const within = '{ seen within { seen } }';
  const ofUser = ({ id }: User) => `ofUser(id: "${id}") ${within}`;
  const data = await run(`{ a: ${ofUser(one)} b: ${ofUser(other)} none: ofInstance ${within} c: ${ofUser(one)} }`);
  const rows = ({ project }: User) => ({ seen: [project.id], within: { seen: [project.id] } });
  expect(data).toEqual({
    a: rows(one),
    b: rows(other),
    none: { seen: [], within: { seen: [] } },
    c: rows(one),
  });
});

it('an operation changes and deletes rows of its project only', async () => {
  const data = await run(`mutation { ofUser(id: "${one.id}") { changed removed } ofInstance { changed removed } }`);
  expect(data).toEqual({
    ofUser: { changed: [one.project.id], removed: [one.project.id] },
    ofInstance: { changed: [], removed: [] },
  });
});

it('an operation sees all projects if its rule allows it', async () => {
  const { ofAll } = await run('{ ofAll { seen } }');
  expect((ofAll as { seen: string[] }).seen.sort()).toEqual([one.project.id, other.project.id].sort());
});
