import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { attributeNames } from '../../domain/claims/attributes.ts';
import type { ClaimSettings } from '../../domain/claims/claim-settings.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { keyIn } from '../../domain/projects/tenant.ts';
import { Requires } from '../api/access.ts';
import { type ProjectContext, withoutNulls } from '../api/context.ts';
import { ClaimSettingsInput, UpdateClaimSettingsInput } from './claim.inputs.ts';
import { ClaimPreviewView, ClaimSettingsView } from './claim.view.ts';

const maxScopes = 20;

@Resolver()
export class ClaimResolver {
  @Requires('project_viewer', { about: { client: 'clientId' }, scope: 'clients:read' })
  @Query(() => ClaimSettingsView, {
    description: 'The claims of an application at the project issuer, and their sources.',
  })
  async claimSettings(@Arg('clientId', () => ID) clientId: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return shown(domain, projectId, clientId, await domain.claims.settings(em, keyIn(projectId, clientId)));
  }

  @Requires('project_viewer', { about: { client: 'clientId' }, scope: 'users:read' })
  @Query(() => ClaimPreviewView, { description: 'A user as an application sees them at the project issuer.' })
  previewClaims(
    @Arg('clientId', () => ID) clientId: string,
    @Arg('userId', () => ID) userId: string,
    @Arg('scopes', () => [String], { description: 'The granted scopes.' }) scopes: string[],
    @Ctx() { domain, em, projectId }: ProjectContext,
    @Arg('draft', () => ClaimSettingsInput, { nullable: true, description: 'Changes that are not saved.' })
    draft?: ClaimSettingsInput | null,
  ) {
    if (scopes.length > maxScopes) refuse({ code: 'invalid', field: 'scopes', reason: `must be at most ${maxScopes}` });
    const request = { client: keyIn(projectId, clientId), userId, scopes };
    return domain.claims.preview(em, request, draft ? withoutNulls({ ...draft }) : undefined);
  }

  @Requires('project_admin', { about: { client: 'clientId' }, fresh: true, scope: 'clients:write' })
  @Mutation(() => ClaimSettingsView, { description: 'Applies to the next token.' })
  async updateClaimSettings(
    @Arg('input', () => UpdateClaimSettingsInput) { clientId, ...change }: UpdateClaimSettingsInput,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    const settings = await domain.claims.update(keyIn(projectId, clientId), withoutNulls(change), actor);
    return shown(domain, projectId, clientId, settings);
  }
}

async function shown(
  { customAttributes }: Pick<ProjectContext['domain'], 'customAttributes'>,
  projectId: string,
  clientId: string,
  settings: ClaimSettings,
) {
  const { attributes } = await customAttributes.current(projectId);
  const custom = attributes.flatMap(({ name, visibleTo, multiValued, subAttributes }) => {
    if (!visibleTo.includes('applications')) return [];
    const parts = multiValued ? [] : subAttributes.map((part) => `custom.${name}.${part.name}`);
    return [`custom.${name}`, ...parts];
  });
  return { clientId, ...settings, attributes: [...attributeNames, ...custom] };
}
