import { defaultFieldResolver, GraphQLError, type GraphQLSchema, isObjectType } from 'graphql';
import type { Role } from '../../domain/admins/membership.entity.ts';
import { allows, roleIn } from '../../domain/admins/permission.ts';
import { secondsLater } from '../../domain/kernel/clock.ts';
import { type Noun, refuse } from '../../domain/kernel/problem.ts';
import { isStorableText } from '../../domain/kernel/secret.ts';
import {
  aboutOf,
  type FieldRule,
  fieldRuleOf,
  type Inputs,
  isRoot,
  type OperationRule,
  operationRuleOf,
} from './access.ts';
import type { AdminCaller } from './caller.ts';
import type { AdminContext } from './context.ts';
import { projectOf } from './ownership.ts';

/** Maximum age of the sign-in proof for sensitive operations. */
export const freshSeconds = 15 * 60;

/** When the caller's sign-in proof expires; null for tokens, which have none. Without a proof (device key only): 1970. */
export function freshUntil({ freshAt }: AdminCaller): Date | null {
  if (freshAt === undefined) return null;
  return freshAt === null ? new Date(0) : secondsLater(freshAt, freshSeconds);
}

/** Wraps each field's resolver in the check of its rule. Throws if a field has no rule. */
export function authorizeSchema(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const check = isRoot(type) ? operationCheck(operationRuleOf(type, field)) : fieldCheck(fieldRuleOf(type, field));
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = (node, args, context: AdminContext, info) => {
        const checked = check(node, args, context);
        return checked ? checked.then(() => resolve(node, args, context, info)) : resolve(node, args, context, info);
      };
    }
  }
  return schema;
}

type Check = (node: unknown, args: Inputs, context: AdminContext) => Promise<void> | undefined;

function fieldCheck(rule: FieldRule): Check {
  if (rule === 'inherited') return () => undefined;
  return (node, _args, { caller }) => {
    checkRole(caller, rule.role, rule.projectOf(node as never), 'project');
    return undefined;
  };
}

function operationCheck(rule: OperationRule): Check {
  return async (_node, args, { caller, em, now }) => {
    checkText(args);
    const inputs = (args['input'] ?? args) as Inputs;
    if (rule.role !== 'admin') {
      const about = aboutOf(rule, inputs);
      checkRole(caller, rule.role, about && (await projectOf(em, about)), about?.noun ?? 'project');
    }
    const fresh = typeof rule.fresh === 'function' ? rule.fresh(inputs) : rule.fresh;
    const until = freshUntil(caller);
    if (fresh && until && until <= now) {
      throw new GraphQLError('Sign in again: this change asks for a fresh sign-in.', {
        extensions: { code: 'reauthentication-required', maxAgeSeconds: freshSeconds },
      });
    }
  };
}

/** Refuses text that PostgreSQL cannot store. */
function checkText(args: Inputs): void {
  const left: unknown[] = [args];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string' && !isStorableText(value)) {
      refuse({ code: 'invalid', field: 'input', reason: 'must not contain NUL or unpaired surrogates' });
    }
    if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
      // Keys of JSON objects are stored, too.
      left.push(...Object.keys(value), ...Object.values(value));
    }
  }
}

/** No role in the project: `not-found`, so that existence is not leaked. */
function checkRole(caller: AdminCaller, role: Role, projectId: string | null, noun: Noun): void {
  if (allows(caller.grants, role, projectId)) return;
  if (projectId !== null && roleIn(caller.grants, projectId) === null) refuse({ code: 'not-found', what: noun });
  refuse({ code: 'forbidden', reason: `it requires the role ${role}` });
}
