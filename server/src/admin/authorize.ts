import { defaultFieldResolver, GraphQLError, type GraphQLSchema, isObjectType } from 'graphql';
import type { Role } from '../domain/admins/membership.entity.ts';
import { allows, roleIn } from '../domain/admins/permission.ts';
import { secondsLater } from '../domain/kernel/clock.ts';
import { type Noun, refuse } from '../domain/kernel/problem.ts';
import { isStorableText } from '../domain/kernel/secret.ts';
import type { Caller } from './caller.ts';
import type { AdminContext } from './context.ts';
import { fieldRules, type NodeRule } from './field-rules.ts';
import { type Arguments, type OperationRule, operationRules } from './operation-rules.ts';
import { projectOf } from './ownership.ts';

/** How old the proof of a person may be for what is sensitive. */
export const freshSeconds = 15 * 60;

/** Until when the caller may make sensitive changes; null for tokens, which need no sign-in. A device key alone: 1970. */
export function freshUntil({ freshAt }: Caller): Date | null {
  if (freshAt === undefined) return null;
  return freshAt === null ? new Date(0) : secondsLater(freshAt, freshSeconds);
}

/** Puts its rule before every field of the schema. Throws where a field has none, or a rule no field. */
export function authorizeSchema(schema: GraphQLSchema): GraphQLSchema {
  const known = new Set<string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    known.add(type.name);
    const isRoot = type.name === 'Query' || type.name === 'Mutation';
    const guards = isRoot ? operationGuards(type.name as 'Query' | 'Mutation') : fieldGuards(type.name);
    for (const field of Object.values(type.getFields())) {
      const guard = guards.get(field.name);
      if (!guard) throw new Error(`There is no rule for ${type.name}.${field.name}`);
      guards.delete(field.name);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (node, args, context: AdminContext, info) => {
        const checked = guard(node, args, context);
        return checked ? checked.then(() => resolve(node, args, context, info)) : resolve(node, args, context, info);
      };
    }
    const [left] = guards.keys();
    if (left !== undefined) throw new Error(`There is a rule for ${type.name}.${left}, which is not there`);
  }
  const stray = Object.keys(fieldRules).find((name) => !known.has(name));
  if (stray !== undefined) throw new Error(`There are rules for ${stray}, which is not there`);
  return schema;
}

type Guard = (node: unknown, args: Arguments, context: AdminContext) => Promise<void> | undefined;

function operationGuards(root: 'Query' | 'Mutation'): Map<string, Guard> {
  return new Map(
    Object.entries(operationRules[root]).map(([name, rule]) => [
      name,
      (_node, args, context) => checkOperation(rule, args, context),
    ]),
  );
}

function fieldGuards(typeName: string): Map<string, Guard> {
  const rule = fieldRules[typeName];
  const guards = new Map<string, Guard>();
  for (const [role, names] of Object.entries(rule?.fields ?? {})) {
    for (const name of names)
      guards.set(name, (node, _args, context) => checkField(rule as NodeRule, role as Role, node, context));
  }
  return guards;
}

async function checkOperation(rule: OperationRule, args: Arguments, { caller, em, now }: AdminContext): Promise<void> {
  checkText(args);
  if (rule.role !== 'admin') {
    const about = rule.about?.(args) ?? null;
    checkRole(caller, rule.role, about && (await projectOf(em, about)), about?.noun ?? 'project');
  }
  const fresh = typeof rule.fresh === 'function' ? rule.fresh(args) : rule.fresh;
  const until = freshUntil(caller);
  if (fresh && until && until <= now) {
    throw new GraphQLError('Sign in again: this change asks for a fresh sign-in.', {
      extensions: { code: 'reauthentication-required', maxAgeSeconds: freshSeconds },
    });
  }
}

function checkField(rule: NodeRule, role: Role, node: unknown, { caller }: AdminContext): undefined {
  if (rule.projectOf === 'inherit') return;
  checkRole(caller, role, rule.projectOf(node as never), 'project');
}

/** Text that no column could hold is refused here, whatever it is for. */
function checkText(args: Arguments): void {
  const left: unknown[] = [args];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string' && !isStorableText(value)) {
      refuse({ code: 'invalid', field: 'input', reason: 'must not hold NUL or half a character' });
    }
    if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
      // A key of a JSON object is text, too.
      left.push(...Object.keys(value), ...Object.values(value));
    }
  }
}

/** Whoever has no role there at all hears the same as where nothing is. */
function checkRole(caller: Caller, role: Role, projectId: string | null, noun: Noun): void {
  if (allows(caller.grants, role, projectId)) return;
  if (projectId !== null && roleIn(caller.grants, projectId) === null) refuse({ code: 'not-found', what: noun });
  refuse({ code: 'forbidden', reason: `it needs the role ${role}` });
}
