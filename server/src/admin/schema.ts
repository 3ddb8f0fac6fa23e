import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { AccessRuleResolver } from './access/access-rule.resolver.ts';
import { AdminTokenResolver, MembershipResolver, MeResolver } from './admins/admin.resolver.ts';
import { fieldRuleOf, isRoot, operationRuleOf, scopesFor } from './api/access.ts';
import { authorizeSchema } from './api/authorize.ts';
import { ApiGrantResolver, ApiResolver } from './apis/api.resolver.ts';
import { CustomAttributeResolver } from './attributes/custom-attribute.resolver.ts';
import { ActivityResolver } from './audit/activity.resolver.ts';
import { AuditResolver } from './audit/audit-event.resolver.ts';
import { ClaimResolver } from './claims/claim.resolver.ts';
import { ClientResolver } from './clients/client.resolver.ts';
import { ClientSecretResolver } from './clients/client-secret.resolver.ts';
import { DelegationKeyResolver } from './clients/delegation-key.resolver.ts';
import { RefreshGrantResolver } from './clients/refresh-grant.resolver.ts';
import { TrialResolver } from './clients/trial.resolver.ts';
import { DevMailboxResolver } from './delivery/dev-mailbox.resolver.ts';
import { MessageResolver } from './delivery/message.resolver.ts';
import { ScimRequestResolver } from './directories/scim-request.resolver.ts';
import { DirectoryResolver } from './directories/scim-token.resolver.ts';
import { CustomDomainResolver } from './domains/domain.resolver.ts';
import { ExperienceContentResolver, ExperienceResolver } from './experience/experience.resolver.ts';
import { SystemResolver } from './instance/system.resolver.ts';
import { SigningKeyResolver } from './keys/signing-key.resolver.ts';
import { LogoutDeliveryResolver, LogoutReceiverResolver } from './logout/logout-delivery.resolver.ts';
import { ProjectResolver } from './projects/project.resolver.ts';
import { RoleAssignmentResolver, RoleResolver } from './roles/role.resolver.ts';
import { LogStreamResolver } from './streams/log-stream.resolver.ts';
import { SignInHistoryResolver } from './support/sign-in-history.resolver.ts';
import { ViewAsResolver } from './support/view-as.resolver.ts';
import { GroupResolver } from './users/group.resolver.ts';
import { NewUserResolver } from './users/new-user.resolver.ts';
import { ProfileResolver } from './users/profile.resolver.ts';
import { RecoveryResolver } from './users/recovery.resolver.ts';
import { UserResolver } from './users/user.resolver.ts';
import { UserAccessResolver } from './users/user-access.resolver.ts';
import { UserConsentResolver } from './users/user-consent.resolver.ts';
import { WebhookResolver } from './webhooks/webhook.resolver.ts';
import { WebhookDeliveryResolver } from './webhooks/webhook-delivery.resolver.ts';

let schema: GraphQLSchema | undefined;

/** The admin API's schema with its rules; built once per process. */
export function adminSchema(): GraphQLSchema {
  schema ??= authorizeSchema(
    buildSchemaSync({
      resolvers: [
        ProjectResolver,
        ClientResolver,
        ClientSecretResolver,
        RefreshGrantResolver,
        TrialResolver,
        DelegationKeyResolver,
        ApiResolver,
        ApiGrantResolver,
        CustomDomainResolver,
        RoleResolver,
        RoleAssignmentResolver,
        AccessRuleResolver,
        ClaimResolver,
        UserResolver,
        UserAccessResolver,
        UserConsentResolver,
        RecoveryResolver,
        ProfileResolver,
        NewUserResolver,
        CustomAttributeResolver,
        GroupResolver,
        DirectoryResolver,
        MessageResolver,
        ExperienceResolver,
        ExperienceContentResolver,
        ScimRequestResolver,
        LogoutDeliveryResolver,
        LogoutReceiverResolver,
        LogStreamResolver,
        WebhookResolver,
        WebhookDeliveryResolver,
        AuditResolver,
        ActivityResolver,
        SignInHistoryResolver,
        ViewAsResolver,
        MembershipResolver,
        MeResolver,
        AdminTokenResolver,
        SigningKeyResolver,
        DevMailboxResolver,
        SystemResolver,
      ],
      validate: false,
    }),
  );
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
    return `${name} ${role}${where.join('')}${when}, ${scopes}${more}${seen}`;
  }
  const rule = fieldRuleOf(type, field);
  if (rule === 'inherited') return `${name} ${rule}`;
  return `${name} ${rule.role} ${rule.projectOf.name}, ${rule.scopes?.join(' or ') || 'not for applications'}`;
}

function ifNamed(condition: true | ((inputs: never) => boolean)): string {
  return condition === true ? '' : ` if ${condition.name}`;
}
