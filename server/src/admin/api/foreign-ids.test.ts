/** An id of another project counts as unknown in any operation; text that is not an id causes no internal error. */
import {
  type GraphQLField,
  GraphQLID,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isInputObjectType,
  parse,
  valueFromASTUntyped,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { argumentsOf, newProjectObjects, type ProjectObjects, selection } from '../../../test/admin-operations.ts';
import { rows } from '../../../test/rows.ts';
import { adminSchema } from '../schema.ts';
import { operationRuleOf } from './access.ts';

const schema = adminSchema();
let harness: AdminHarness;
let ours: ProjectObjects;
let theirs: ProjectObjects;
let admin: Record<string, string>;
let before: unknown;

beforeAll(async () => {
  // Off by default: then each statement must name the project.
  harness = await openAdminHarness({ rowSecurity: false });
  ours = (await newProjectObjects(harness, 'ours')).ids;
  theirs = (await newProjectObjects(harness, 'theirs')).ids;
  admin = await harness.tokenOf('project_admin', ours.project);
  before = await rowsOfTheirs();
});
afterAll(() => harness.close());

/** The object that an optional argument names, if the argument is not named after it. */
const kindOf: Record<string, keyof ProjectObjects> = {
  ...{ darkLogoId: 'logo', groupId: 'localGroup', homeId: 'organization' },
  // Fields of the filter of events.
  ...{ actorId: 'user', subjectId: 'user', requestId: 'session', signInId: 'session' },
};

type Arguments = Record<string, unknown>;
interface Place {
  path: readonly string[];
  isList: boolean;
}

/** Each place for an id, however deep. */
function placesIn(type: GraphQLInputType, path: readonly string[]): Place[] {
  const named = getNamedType(type);
  if (named === GraphQLID) return [{ path, isList: String(type).startsWith('[') }];
  if (!isInputObjectType(named)) return [];
  return Object.values(named.getFields()).flatMap((field) => placesIn(field.type, [...path, field.name]));
}

const cases = [schema.getQueryType(), schema.getMutationType()].flatMap((type) => {
  const root = type as GraphQLObjectType;
  // An operation that is only about the instance has no ids of projects.
  const fields = Object.values(root.getFields()).filter((field) => operationRuleOf(root, field).about);
  return fields.flatMap((field) =>
    field.args
      .flatMap((argument) => placesIn(argument.type, [argument.name]))
      .map((place) => ({ name: `${field.name}(${place.path.join('.')})`, root: root.name, field, place })),
  );
});

/** The arguments of the operation about our project, as values. */
function ownArguments(name: string): Arguments {
  const document = parse(`{ f${argumentsOf(ours, name)} }`);
  const [operation] = document.definitions;
  const selected = operation?.kind === 'OperationDefinition' ? operation.selectionSet.selections[0] : undefined;
  const given = selected?.kind === 'Field' ? (selected.arguments ?? []) : [];
  return Object.fromEntries(given.map(({ name: { value }, value: node }) => [value, valueFromASTUntyped(node)]));
}

function withId(values: Arguments, [name = '', ...rest]: readonly string[], id: unknown): Arguments {
  return { ...values, [name]: rest.length === 0 ? id : withId((values[name] ?? {}) as Arguments, rest, id) };
}

async function ask(root: string, field: GraphQLField<unknown, unknown>, values: Arguments): Promise<string> {
  const used = field.args.filter(({ name }) => values[name] !== undefined);
  const declared = used.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = used.map(({ name }) => `${name}: $${name}`).join(', ');
  const text = `${root.toLowerCase()} (${declared}) { ${field.name}(${passed}) ${selection(field.type, 2)} }`;
  const { body } = await harness.call(text, values, admin);
  return body;
}

/** The id of the other project's object, of the same kind as the one that our arguments name at this place. */
function foreignId(name: string, { path, isList }: Place): string {
  const at = path.reduce<unknown>((value, key) => (value as Arguments | undefined)?.[key], ownArguments(name));
  const own = isList ? (at as string[] | undefined)?.[0] : at;
  const last = path.at(-1) ?? '';
  const [kind] = Object.entries(ours).find(([, id]) => id === own) ?? [kindOf[last] ?? last.replace(/Ids?$/, '')];
  const id = theirs[kind as keyof ProjectObjects];
  if (id === undefined) throw new Error(`No object is listed for ${path.join('.')}`);
  return id;
}

it.each(cases)('$name', async ({ root, field, place }) => {
  const answerTo = async (id: string) => {
    const body = await ask(root, field, withId(ownArguments(field.name), place.path, place.isList ? [id] : id));
    return body.replaceAll(id, '<id>').replaceAll(/"requestId":"[^"]*"/g, '');
  };
  const foreign = await answerTo(foreignId(field.name, place));
  expect(foreign).not.toContain('GRAPHQL_VALIDATION_FAILED');
  expect(foreign).not.toContain('BAD_USER_INPUT');
  for (const id of Object.values(theirs)) expect(foreign).not.toContain(id);
  expect(foreign).toBe(await answerTo(crypto.randomUUID()));
  expect(await answerTo('no id')).not.toContain('INTERNAL_SERVER_ERROR');
});

it('changes nothing of the other project', async () => expect(await rowsOfTheirs()).toEqual(before));

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));

/** All rows of the other project, by table. */
async function rowsOfTheirs(): Promise<Record<string, object[]>> {
  const { db } = harness.services;
  const tables = await rows<{ name: string }>(
    db,
    `select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'project_id' and table_name in (select relname from pg_class where not relispartition)`,
  );
  const found = tables.map(async ({ name }) => {
    const list = await rows<{ row: object }>(
      db,
      `select to_jsonb(t) as row from "${name}" t where project_id = ? order by to_jsonb(t)::text`,
      [theirs.project],
    );
    return [name, list] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}
