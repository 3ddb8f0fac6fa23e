import 'reflect-metadata';
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { ActivityResolver } from './activity.resolver.ts';
import { AdminTokenResolver, MembershipResolver } from './admin.resolver.ts';
import { AuditResolver } from './audit.resolver.ts';
import { authorizeSchema } from './authorize.ts';
import { ClientResolver } from './client.resolver.ts';
import { DelegationKeyResolver } from './delegation-key.resolver.ts';
import { DirectoryResolver } from './directory.resolver.ts';
import { ExperienceContentResolver, ExperienceResolver, ExperienceVersionResolver } from './experience.resolver.ts';
import { GroupResolver } from './group.resolver.ts';
import { DevMailboxResolver, SigningKeyResolver } from './instance.resolver.ts';
import { LogoutDeliveryResolver, LogoutReceiverResolver } from './logout-delivery.resolver.ts';
import { MessageResolver } from './message.resolver.ts';
import { ProjectResolver } from './project.resolver.ts';
import { ScimRequestResolver } from './scim-request.resolver.ts';
import { SystemResolver } from './system.resolver.ts';
import { TrialResolver } from './trial.resolver.ts';
import { UserResolver } from './user.resolver.ts';
import { UserAccessResolver } from './user-access.resolver.ts';

let schema: GraphQLSchema | undefined;

/** The admin API's schema, each field behind its rule; built once in a process. */
export function adminSchema(): GraphQLSchema {
  schema ??= authorizeSchema(
    buildSchemaSync({
      resolvers: [
        ProjectResolver,
        ClientResolver,
        TrialResolver,
        DelegationKeyResolver,
        UserResolver,
        UserAccessResolver,
        GroupResolver,
        DirectoryResolver,
        MessageResolver,
        ExperienceResolver,
        ExperienceContentResolver,
        ExperienceVersionResolver,
        ScimRequestResolver,
        LogoutDeliveryResolver,
        LogoutReceiverResolver,
        AuditResolver,
        ActivityResolver,
        MembershipResolver,
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

/** `schema.graphql`: the same whatever the order of the code. */
export function printAdminSchema(): string {
  return `${printSchema(lexicographicSortSchema(adminSchema()))}\n`;
}
