import { X509Certificate } from 'node:crypto';
import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { found, refuse } from '../../domain/kernel/problem.ts';
import type { SamlKey } from '../../domain/keys/saml-key.entity.ts';
import { projectIssuerUrl } from '../../domain/projects/issuer.ts';
import type { ServiceProvider } from '../../domain/saml/messages/metadata.ts';
import { entityIdOf } from '../../domain/tokens/saml/saml-answers.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext } from '../api/context.ts';
import { SamlIdentityProviderView, SamlServiceProviderView } from './saml.view.ts';

@Resolver()
export class SamlResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'clients:read' })
  @Query(() => SamlIdentityProviderView)
  async samlIdentityProvider(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    const { slug } = found(await domain.projects.find(em, projectId), 'project');
    const url = projectIssuerUrl(domain.signer.base.url, slug);
    const keys = await domain.samlKeys.published(projectId);
    const endpoints = { entityId: entityIdOf({ url }), ssoUrl: `${url}/saml/sso`, sloUrl: `${url}/saml/slo` };
    return { ...ofProject(projectId), ...endpoints, certificates: keys.map(shown) };
  }

  // Only admins create applications; and this server reads the address.
  @Requires('project_admin', { about: { project: 'projectId' }, scope: 'clients:write' })
  @Query(() => SamlServiceProviderView, {
    description:
      'Reads settings for `createClient` from the metadata of an application: `metadata` or `metadataUrl`. Stores nothing.',
  })
  async samlServiceProvider(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('metadata', () => String, { nullable: true, description: 'XML, at most 512 KB.' }) metadata: string | null,
    @Arg('metadataUrl', () => String, { nullable: true, description: 'An https address that this server reads now.' })
    metadataUrl: string | null,
    @Ctx() { domain: { serviceProviderMetadata } }: AdminContext,
  ) {
    if ((metadata == null) === (metadataUrl == null)) {
      return refuse({ code: 'invalid', field: 'metadata', reason: 'must be given' });
    }
    const read =
      metadataUrl == null
        ? serviceProviderMetadata.parsed(metadata ?? '')
        : await serviceProviderMetadata.at(metadataUrl);
    return {
      ...ofProject(projectId),
      samlEntityId: read.entityId,
      redirectUris: read.acsUrls,
      samlCertificates: read.signingCertificates,
      samlEncryptionCertificate: read.encryptionCertificates[0] ?? null,
      samlRequestsSigned: read.signsRequests,
      // Logout requests need a certificate.
      ...(read.signingCertificates.length > 0 ? logoutOf(read) : noLogout),
      samlLogoutSoapUri: read.sloSoapUrl ?? null,
    };
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => SamlIdentityProviderView, {
    description:
      'Publishes a successor of the signing certificate, which signs after 30 days: update applications that do not read the metadata. The former one stays published for another 30.',
  })
  async rotateSamlKey(@Arg('projectId', () => ID) projectId: string, @Ctx() ctx: AdminContext) {
    await ctx.domain.samlKeys.rotate(projectId, ctx.actor);
    return this.samlIdentityProvider(projectId, ctx);
  }
}

const noLogout = { samlLogoutUri: null, samlLogoutResponseUri: null };

function logoutOf({ sloUrl, sloResponseUrl }: ServiceProvider) {
  if (sloUrl === undefined) return noLogout;
  return { samlLogoutUri: sloUrl, samlLogoutResponseUri: sloResponseUrl === sloUrl ? null : (sloResponseUrl ?? null) };
}

/** What the access rule of the views reads. */
const ofProject = (id: string) => ({ project: { id } });

function shown({ project, id, certificate, signsFrom, publishedUntil }: SamlKey) {
  const read = new X509Certificate(certificate);
  const dates = { expiresAt: new Date(read.validTo), signsFrom, publishedUntil: publishedUntil ?? null };
  return { project, id, pem: read.toString(), fingerprint: read.fingerprint256, ...dates };
}
