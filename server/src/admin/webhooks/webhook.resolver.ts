import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { keyIn } from '../../domain/projects/tenant.ts';
import type { Webhook } from '../../domain/webhooks/webhook.entity.ts';
import { webhookFields } from '../../domain/webhooks/webhook.resource.ts';
import { countDeliveries } from '../../domain/webhooks/webhook-deliveries.ts';
import { hostOf } from '../../domain/webhooks/webhooks.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext, ProjectContext } from '../api/context.ts';
import { settingsIn } from '../api/resource-types.ts';
import { CreateWebhookInput, UpdateWebhookInput } from './webhook.inputs.ts';
import { IssuedWebhookView, WebhookView } from './webhook.view.ts';

/** Applications read webhooks only: the owner of an address receives the project's events. */
@Resolver(() => WebhookView)
export class WebhookResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => [WebhookView], { description: 'The webhooks of a project, oldest first; at most 20.' })
  webhooks(@Arg('projectId', () => ID) projectId: string, @Ctx() { domain, em }: AdminContext) {
    return domain.webhooks.list(em, projectId);
  }

  @Requires('project_viewer', { about: { webhook: 'id' }, scope: 'projects:read' })
  @Query(() => WebhookView)
  webhook(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return domain.webhooks.get(em, keyIn(projectId, id));
  }

  // Not for applications, which cannot create webhooks either.
  @Requires('project_admin', { about: { webhook: 'id' } })
  @Query(() => String, { description: 'The address, which may contain a token of the receiver: not for viewers.' })
  async webhookUrl(@Arg('id', () => ID) id: string, @Ctx() { domain, em, projectId }: ProjectContext) {
    return (await domain.webhooks.get(em, keyIn(projectId, id))).url;
  }

  @Requires('project_admin', { about: { project: 'projectId' }, fresh: true })
  @Mutation(() => IssuedWebhookView, { description: 'It receives the events from now on.' })
  createWebhook(@Arg('input', () => CreateWebhookInput) input: CreateWebhookInput, @Ctx() ctx: AdminContext) {
    const settings = { ...settingsIn(webhookFields, input), url: input.url };
    return ctx.domain.webhooks.create(input.projectId, settings, ctx.actor);
  }

  @Requires('project_admin', { about: { webhook: 'id' }, fresh: true })
  @Mutation(() => WebhookView, { description: 'Also enables it after a long failure.' })
  updateWebhook(@Arg('input', () => UpdateWebhookInput) input: UpdateWebhookInput, @Ctx() ctx: ProjectContext) {
    return ctx.domain.webhooks.update(keyIn(ctx.projectId, input.id), settingsIn(webhookFields, input), ctx.actor);
  }

  @Requires('project_admin', { about: { webhook: 'id' } })
  @Mutation(() => ID, { description: 'Deletes it with its deliveries. Returns its id.' })
  async deleteWebhook(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    await ctx.domain.webhooks.remove(keyIn(ctx.projectId, id), ctx.actor);
    return id;
  }

  @Requires('project_admin', { about: { webhook: 'id' }, fresh: true })
  @Mutation(() => IssuedWebhookView, { description: 'The previous secret signs, too, for 24 hours.' })
  rotateWebhookSecret(@Arg('id', () => ID) id: string, @Ctx() ctx: ProjectContext) {
    return ctx.domain.webhooks.rotateSecret(keyIn(ctx.projectId, id), ctx.actor);
  }

  @FieldResolver(() => String, { description: 'Host and port of the address.' })
  host(@Root() { url }: Webhook) {
    return hostOf(url);
  }

  @FieldResolver(() => GraphQLDateTime, { nullable: true, description: 'Until then the previous secret signs, too.' })
  previousSecretUntil(@Root() { previousSecretUntil }: Webhook, @Ctx() { now }: AdminContext) {
    return previousSecretUntil && previousSecretUntil > now ? previousSecretUntil : null;
  }

  @FieldResolver(() => Int, { description: 'Waiting deliveries, counted up to 1,000.' })
  pending(@Root() webhook: Webhook, @Ctx() { em }: AdminContext) {
    return countDeliveries(em, webhook, 'pending');
  }

  @FieldResolver(() => Int, { description: 'Failed deliveries of the last 30 days, counted up to 1,000.' })
  failed(@Root() webhook: Webhook, @Ctx() { em }: AdminContext) {
    return countDeliveries(em, webhook, 'failed');
  }
}
