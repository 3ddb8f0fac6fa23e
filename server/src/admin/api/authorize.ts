import {
  defaultFieldResolver,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { allows, isWide, roleIn, type WideRole } from '../../domain/admins/permission.ts';
import { type AdminScope, mayUse } from '../../domain/kernel/admin-api.ts';
import type { Noun } from '../../domain/kernel/nouns/names.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { inScope } from '../../domain/kernel/scope.ts';
import { isStorableText } from '../../domain/kernel/secret.ts';
import {
  aboutOf,
  applies,
  type FieldRule,
  fieldRuleOf,
  type Inputs,
  isRoot,
  type OperationRule,
  operationRuleOf,
  scopeOf,
  scopesFor,
} from './access.ts';
import type { AdminCaller } from './caller.ts';
import { callerFreshUntil, checkScope, freshSeconds } from './caller-checks.ts';
import { type AdminRequest, contextOf, type Operation } from './context.ts';
import { coversOperation } from './organization-admin.ts';
import { adminScopesOf, type Owner, ownerOf } from './ownership.ts';

/**
 * Wraps each field's resolver in the check of its rule, and in the scope of its operation. Throws if a field has no rule.
 */
export function authorizeSchema(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = isRoot(type)
        ? asOperation(operationRuleOf(type, field), resolve)
        : asField(fieldRuleOf(type, field), resolve);
    }
  }
  return schema;
}

type Resolve = GraphQLFieldResolver<unknown, AdminRequest>;

function asOperation(rule: OperationRule, resolve: GraphQLFieldResolver<unknown, unknown>): Resolve {
  return async (node, args, request, info) => {
    const { projectId } = await authorized(rule, args, request);
    const operation = { scope: scopeOf(rule, projectId), context: contextOf(request, projectId) };
    request.operations.set(info.path.key, operation);
    return inScope(operation.scope, () => resolve(node, args, operation.context, info));
  };
}

function asField(rule: FieldRule, resolve: GraphQLFieldResolver<unknown, unknown>): Resolve {
  return (node, args, request, info) => {
    if (rule !== 'inherited') {
      checkScope(request.caller, rule.scopes ?? []);
      const isOfOrganization = rule.forOrganizations?.(request.caller.grants, node as never) ?? false;
      if (!isOfOrganization)
        checkRole(
          request.caller,
          rule.role,
          { projectId: rule.projectOf(node as never), organizationId: null },
          'project',
        );
    }
    // GraphQL resolves fields in the context of the request.
    const { scope, context } = request.operations.get(rootKeyOf(info)) as Operation;
    return inScope(scope, () => resolve(node, args, context, info));
  };
}

/** The name of the operation in the response. */
function rootKeyOf({ path }: GraphQLResolveInfo): string | number {
  let root = path;
  while (root.prev) root = root.prev;
  return root.key;
}

/**
 * The project that the operation is about, and the organization, if any. Throws if the caller lacks the right to it.
 *
 * @param gone where a node belonged that the operation has deleted before
 */
export async function authorized(
  rule: OperationRule,
  args: Inputs,
  { caller, db, now }: AdminRequest,
  gone?: Owner,
): Promise<Owner> {
  checkText(args);
  checkScope(caller, scopesFor(rule));
  const inputs = (args['input'] ?? args) as Inputs;
  if (applies(rule.overUsers, inputs)) checkScope(caller, ['users:write']);
  const about = aboutOf(rule, inputs);
  const owner = gone ?? (about ? await ownerOf(db.alone, about) : ofInstance);
  checkRight(caller, rule, owner, about?.noun ?? 'project');
  if (caller.scopes && scopesFor(rule).includes('clients:write')) {
    checkNotAbove(caller.scopes, await adminScopesOf(db.alone, about));
  }
  const until = callerFreshUntil(caller, now);
  if (applies(rule.fresh, inputs) && until && until <= now) {
    throw new GraphQLError('Sign in again: this change requires a fresh sign-in.', {
      extensions: { code: 'reauthentication-required', maxAgeSeconds: freshSeconds },
    });
  }
  return owner;
}

const ofInstance: Owner = { projectId: null, organizationId: null };

function checkRight({ grants }: AdminCaller, rule: OperationRule, owner: Owner, noun: Noun): void {
  if (rule.role === 'admin') {
    if (rule.forOrganizations === 'caller' || isWide(grants)) return;
    lacks('project_viewer');
  }
  if (!coversOperation(grants, rule.forOrganizations, owner)) checkRole({ grants }, rule.role, owner, noun);
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

/** A client may not change one with rights that it lacks: it could then act as that client. See also `powers.ts`. */
function checkNotAbove(scopes: readonly string[], present: readonly AdminScope[]): void {
  if (present.every((scope) => mayUse(scopes, scope))) return;
  refuse({ code: 'forbidden', reason: 'the application has rights at the admin API that the caller lacks' });
}

/** No role in the project: `not-found`, so that existence is not leaked. */
function checkRole(
  { grants }: Pick<AdminCaller, 'grants'>,
  role: WideRole,
  { projectId, organizationId }: Owner,
  noun: Noun,
): void {
  if (allows(grants, role, projectId)) return;
  const isKnown =
    roleIn(grants, projectId) !== null || coversOperation(grants, 'itself', { projectId, organizationId });
  if (projectId !== null && !isKnown) refuse({ code: 'not-found', what: noun });
  lacks(role);
}

function lacks(role: WideRole): never {
  refuse({ code: 'forbidden', reason: `it requires the role ${role}` });
}
