// Every decorated class imports this module, so the polyfill that type-graphql needs is imported once, here.
import 'reflect-metadata';
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import { Extensions } from 'type-graphql';
import type { WideRole } from '../../domain/admins/permission.ts';
import { type AuditEvent, instanceId } from '../../domain/audit/audit-event.entity.ts';
import type { AdminScope } from '../../domain/kernel/admin-api.ts';
import type { OwnedNoun } from '../../domain/kernel/nouns/names.ts';
import type { Scope } from '../../domain/kernel/scope.ts';
import { fieldForOrganizations, kindForOrganizations } from './organization-admin.ts';
import type { About } from './ownership.ts';

/** The project whose role counts for a node; null: the instance, which only owners can read. */
type ProjectOf = (node: never) => string | null;

/**
 * `inherited`: for values without an identity, reached only through a field that was checked. `scopes`: a client needs one
 * of them; without any, it cannot read the field.
 */
export type FieldRule =
  | 'inherited'
  | {
      role: WideRole;
      projectOf: ProjectOf;
      scopes?: readonly AdminScope[];
      forOrganizations?: ReturnType<typeof fieldForOrganizations>;
    };

export const itself: ProjectOf = (project: { id: string }) => project.id;
export const ofProject: ProjectOf = (node: { project: { id: string } }) => node.project.id;
export const ofProjectOrInstance: ProjectOf = (node: { project?: { id: string } | null }) => node.project?.id ?? null;
export const ofEvent: ProjectOf = ({ projectId }: AuditEvent) => (projectId === instanceId ? null : projectId);
export const ofClient: ProjectOf = (node: { client: { getEntity(): { project: { id: string } } } }) =>
  node.client.getEntity().project.id;
export const ofInstance: ProjectOf = () => null;

/** On a view class: the rule for its fields. On a field or its resolver: the rule for that field. */
export function Access(rule: 'inherited'): ReturnType<typeof Extensions>;
export function Access(role: WideRole, projectOf: ProjectOf, ...scopes: AdminScope[]): ReturnType<typeof Extensions>;
export function Access(role: WideRole | 'inherited', projectOf: ProjectOf = ofInstance, ...scopes: AdminScope[]) {
  return Extensions({ access: role === 'inherited' ? role : { role, projectOf, scopes } });
}

/** The fields of `input` if an operation has one, else its arguments, as validated against the schema. */
export type Inputs = Record<string, unknown>;

export interface OperationRule {
  /** `admin`: any role anywhere; the resolver returns only resources that the caller may read. */
  role: WideRole | 'admin';
  /**
   * The noun, and the input that holds its id; of several, the first that is given. Absent, or a project id that is not given: the
   * instance.
   */
  about?: {
    [Noun in OwnedNoun]?: 'id' | `${string}Id`;
  };
  /**
   * The reason why its statements see all projects: always, or only if it is about the instance. Absent: they see only
   * the project that it is about, if any.
   */
  allProjects?: { always: string } | { ofInstance: string };
  /** The scope that a client needs (RFC 6749 section 4.4); of several, one. Absent: no client may use it. */
  scope?: AdminScope | readonly AdminScope[];
  /** Gives power over users, for example to sign in as them: a client needs `users:write`, too. */
  overUsers?: Condition;
  /** From the list of what admins of organizations may use; undefined: refused to them. */
  forOrganizations?: ReturnType<typeof kindForOrganizations>;
  /** Sensitive: requires a sign-in within `freshSeconds`, unless the caller is a token. */
  fresh?: Condition;
}

/** Always, or depending on the inputs. */
type Condition = boolean | ((inputs: Inputs) => boolean);

export function applies(condition: Condition | undefined, inputs: Inputs): boolean {
  return typeof condition === 'function' ? condition(inputs) : condition === true;
}

/** On a query or mutation: the role that it requires, and where. Operations have no default. */
export function Requires(role: OperationRule['role'], options: Omit<OperationRule, 'role' | 'forOrganizations'> = {}) {
  return Extensions({ operation: { role, ...options } satisfies OperationRule });
}

/** Throws if neither the field nor its type has a rule. */
export function fieldRuleOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): FieldRule {
  const rule = (field.extensions['access'] ?? type.extensions['access']) as FieldRule | undefined;
  if (!rule) throw new Error(`${type.name}.${field.name} has no @Access rule`);
  const forOrganizations = fieldForOrganizations(type.name, field.name);
  return rule === 'inherited' || !forOrganizations ? rule : { ...rule, forOrganizations };
}

/** Throws if the operation has no rule. */
export function operationRuleOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): OperationRule {
  const rule = field.extensions['operation'] as OperationRule | undefined;
  if (!rule) throw new Error(`${type.name}.${field.name} has no @Requires rule`);
  const forOrganizations = kindForOrganizations(field.name);
  return forOrganizations ? { ...rule, forOrganizations } : rule;
}

/** The scopes of which a client needs one; empty: no client may use the operation. */
export function scopesFor({ scope }: OperationRule): readonly AdminScope[] {
  return scope === undefined ? [] : [scope].flat();
}

/** The projects that the operation's statements see. @param projectId the project that it is about; null: the instance */
export function scopeOf({ allProjects }: OperationRule, projectId: string | null): Scope {
  if (allProjects && ('always' in allProjects || projectId === null)) return 'all';
  return projectId ?? 'none';
}

export const isRoot = ({ name }: GraphQLObjectType): boolean => name === 'Query' || name === 'Mutation';

/** The node that an operation is about; null: the instance. */
export function aboutOf({ about }: OperationRule, inputs: Inputs): About | null {
  const nodes = Object.entries(about ?? {});
  const node = nodes.find(([, name]) => inputs[name] != null) ?? nodes.at(-1);
  if (!node) return null;
  const [noun, name] = node;
  const id = inputs[name];
  return id == null && name === 'projectId' ? null : { noun: noun as OwnedNoun, id: String(id ?? '') };
}
