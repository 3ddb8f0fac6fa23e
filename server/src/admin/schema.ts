import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { fieldRuleOf, isRoot, operationRuleOf, scopesFor } from './api/access.ts';
import { authorizeSchema } from './api/authorize.ts';
import { resolvers } from './generated/resolvers.ts';

let schema: GraphQLSchema | undefined;

/** The admin API's schema with its rules; built once per process. */
export function adminSchema(): GraphQLSchema {
  // Apollo validates the schema; the check skipped here would introspect it at each start.
  schema ??= authorizeSchema(buildSchemaSync({ resolvers, validate: false, skipCheck: true }));
  return schema;
}

/** `schema.graphql`: sorted, so that it does not depend on the order of imports. */
export function printAdminSchema(): string {
  return `${printSchema(lexicographicSortSchema(adminSchema()))}\n`;
}

/** `permissions.txt`: one line per operation and field, so that a review shows each rule that changes. */
export function printPermissions(): string {
  const types = Object.values(lexicographicSortSchema(adminSchema()).getTypeMap());
  const lines = types
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) =>
      Object.values((type as GraphQLObjectType).getFields()).map((field) => line(type as GraphQLObjectType, field)),
    );
  return `${lines.join('\n')}\n`;
}

function line(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
  const name = `${type.name}.${field.name}`;
  if (isRoot(type)) {
    const rule = operationRuleOf(type, field);
    const { role, about, allProjects, fresh, overUsers } = rule;
    const where = Object.entries(about ?? {}).map(([noun, input]) => ` in the project of ${noun}(${input})`);
    const when = fresh ? `, fresh sign-in${ifNamed(fresh)}` : '';
    const more = overUsers ? ` and users:write${ifNamed(overUsers)}` : '';
    const [[extent, reason] = []] = Object.entries(allProjects ?? {});
    const seen =
      reason === undefined ? '' : `, sees all projects${extent === 'always' ? '' : ' for the instance'}: ${reason}`;
    const scopes = scopesFor(rule).join(' or ') || 'not for applications';
    const also = rule.forOrganizations ? `, admins of organizations: ${rule.forOrganizations}` : '';
    return `${name} ${role}${where.join('')}${when}, ${scopes}${more}${seen}${also}`;
  }
  const rule = fieldRuleOf(type, field);
  if (rule === 'inherited') return `${name} ${rule}`;
  const also = rule.forOrganizations ? `, admins of organizations: ${rule.forOrganizations.name}` : '';
  return `${name} ${rule.role} ${rule.projectOf.name}, ${rule.scopes?.join(' or ') || 'not for applications'}${also}`;
}

function ifNamed(condition: true | ((inputs: never) => boolean)): string {
  return condition === true ? '' : ` if ${condition.name}`;
}
