import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { accentTheme } from '../../domain/experience/accent.ts';
import { checkColor, type ExperienceContent } from '../../domain/experience/content.ts';
import { standardMailTexts } from '../../domain/experience/standard-texts.ts';
import { textRules } from '../../domain/experience/texts.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { AdminContext } from '../api/context.ts';
import {
  DiscardExperienceDraftInput,
  PublishExperienceInput,
  RevertExperienceInput,
  SaveExperienceDraftInput,
} from './experience.inputs.ts';
import {
  AccentThemeView,
  ExperienceContentView,
  ExperienceTextRuleView,
  ExperienceTextView,
  ExperienceVersionConnection,
  ExperienceView,
} from './experience.view.ts';

@Resolver(() => ExperienceView)
export class ExperienceResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => ExperienceView)
  experience(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    return domain.experiences.state(em, projectId);
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => ExperienceVersionConnection, { description: 'The last 100 published versions, newest first.' })
  async experienceVersions(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { domain, em }: AdminContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('experienceVersions', { first, after });
    const page = await domain.experiences.versions(em, projectId, request);
    return connection('experienceVersions', page, request);
  }

  @Requires('admin')
  @Query(() => AccentThemeView, { description: 'A color as the pages show it.' })
  accentTheme(@Arg('color', () => String) color: string) {
    return accentTheme(checkColor(color));
  }

  @Requires('project_admin', { about: { project: 'projectId' }, scope: 'projects:write' })
  @Mutation(() => ExperienceView, { description: 'Has no effect until it is published.' })
  saveExperienceDraft(
    @Arg('input', () => SaveExperienceDraftInput) { projectId, expectedVersion, ...content }: SaveExperienceDraftInput,
    @Ctx() { domain, actor }: AdminContext,
  ) {
    return domain.experiences.saveDraft(draftOf({ projectId, expectedVersion }), content, actor);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, scope: 'projects:write' })
  @Mutation(() => ExperienceView, { description: 'Resets the draft to the published version.' })
  discardExperienceDraft(
    @Arg('input', () => DiscardExperienceDraftInput) input: DiscardExperienceDraftInput,
    @Ctx() { domain, actor }: AdminContext,
  ) {
    return domain.experiences.discardDraft(draftOf(input), actor);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, scope: 'projects:write' })
  @Mutation(() => ExperienceView, { description: 'Publishes the draft.' })
  publishExperience(
    @Arg('input', () => PublishExperienceInput) input: PublishExperienceInput,
    @Ctx() { domain, actor }: AdminContext,
  ) {
    return domain.experiences.publish(draftOf(input), actor);
  }

  @Requires('project_admin', { about: { project: 'projectId' }, scope: 'projects:write' })
  @Mutation(() => ExperienceView, {
    description: 'Publishes an earlier version again; the draft is unchanged.',
  })
  revertExperience(
    @Arg('input', () => RevertExperienceInput) { projectId, number }: RevertExperienceInput,
    @Ctx() { domain, actor }: AdminContext,
  ) {
    return domain.experiences.revert(projectId, number, actor);
  }

  @FieldResolver(() => [ExperienceTextView], { description: 'Default texts of mails.' })
  standardMailTexts() {
    return standardMailTexts();
  }

  @FieldResolver(() => [ExperienceTextRuleView])
  textRules() {
    return Object.entries(textRules).map(([key, { kind, max, placeholders }]) => ({
      key,
      kind,
      maxLength: max,
      placeholders,
    }));
  }
}

@Resolver(() => ExperienceContentView)
export class ExperienceContentResolver {
  @FieldResolver(() => [ExperienceTextView])
  texts(@Root() { texts }: ExperienceContent) {
    return Object.entries(texts).flatMap(([locale, ofLocale]) =>
      Object.entries(ofLocale).map(([key, text]) => ({ locale, key, text })),
    );
  }
}

function draftOf({ projectId, expectedVersion }: DiscardExperienceDraftInput) {
  return { projectId, expectedVersion: expectedVersion ?? undefined };
}
