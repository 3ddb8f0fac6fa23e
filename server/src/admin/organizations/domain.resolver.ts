import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { releaseAt } from '../../domain/organizations/domains/organization-domains.ts';
import type { Organization } from '../../domain/organizations/organization.entity.ts';
import type { OrganizationDomain } from '../../domain/organizations/organization-domain.entity.ts';
import { challengeName } from '../../domain/projects/dns-proof.ts';
import { unicodeOf } from '../../domain/projects/mail-domains.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { AddedOrganizationDomain, DnsRecord, OrganizationDomainView } from './domain.view.ts';
import { AddOrganizationDomainInput, VerifyOrganizationDomainInput } from './organization.inputs.ts';
import { OrganizationView } from './organization.view.ts';

@Resolver(() => OrganizationDomainView)
export class OrganizationDomainResolver {
  @Requires('project_admin', { about: { organization: 'organizationId' }, fresh: true, scope: 'users:write' })
  @Mutation(() => AddedOrganizationDomain, { description: 'It has no effect until its TXT record has been found.' })
  async addOrganizationDomain(
    @Arg('input', () => AddOrganizationDomainInput) { organizationId, domain: name }: AddOrganizationDomainInput,
    @Ctx() { actor, domain: services, projectId }: ProjectContext,
  ) {
    const domain = await services.organizationDomains.add(keyIn(projectId, organizationId), name, actor);
    return { domain, record: recordOf(domain) };
  }

  @Requires('project_admin', { about: { 'organization-domain': 'id' }, scope: 'users:write' })
  @Mutation(() => OrganizationDomainView, { description: 'Checks the TXT record now.' })
  checkOrganizationDomain(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.organizationDomains.check(keyIn(projectId, id), actor);
  }

  @Requires('project_admin', { about: { 'organization-domain': 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => OrganizationDomainView, {
    description: 'Verifies a domain without its record, with a reason. It is not checked again.',
  })
  verifyOrganizationDomain(
    @Arg('input', () => VerifyOrganizationDomainInput) { id, reason }: VerifyOrganizationDomainInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    return domain.organizationDomains.verify(keyIn(projectId, id), reason, actor);
  }

  @Requires('project_admin', { about: { 'organization-domain': 'id' }, fresh: true, scope: 'users:write' })
  @Mutation(() => ID, { description: 'Its effects end; members stay. Returns its id.' })
  async removeOrganizationDomain(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    await domain.organizationDomains.remove(keyIn(projectId, id), actor);
    return id;
  }

  @FieldResolver(() => String, { nullable: true, description: 'The domain in Unicode; null if that is the same.' })
  unicode(@Root() { domain }: OrganizationDomain) {
    return unicodeOf(domain);
  }

  @FieldResolver(() => DnsRecord, { description: 'The record that proves it.' })
  record(@Root() domain: OrganizationDomain) {
    return recordOf(domain);
  }

  @FieldResolver(() => GraphQLDateTime, {
    nullable: true,
    description: 'Time from which the next failed check ends a verified domain; null: its checks succeed.',
  })
  releaseAt(@Root() domain: OrganizationDomain) {
    return releaseAt(domain);
  }
}

@Resolver(() => OrganizationView)
export class DomainsOfOrganizationResolver {
  @FieldResolver(() => [OrganizationDomainView], { description: 'Mail domains, by name; at most 50.' })
  async domains(@Root() organization: Organization, @Ctx() { loaders }: AdminContext) {
    return (await loaders.domainsOfOrganization(organization)) ?? [];
  }
}

function recordOf({ challenge, domain }: OrganizationDomain) {
  return { name: challengeName(domain), value: challenge };
}
