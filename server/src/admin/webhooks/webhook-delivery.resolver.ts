import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { found } from '../../domain/kernel/problem.ts';
import { isUuid } from '../../domain/kernel/secret.ts';
import { atKey, keyIn } from '../../domain/projects/tenant.ts';
import { payloadOf } from '../../domain/webhooks/payload.ts';
import { listWebhookDeliveries } from '../../domain/webhooks/webhook-deliveries.ts';
import { WebhookDelivery } from '../../domain/webhooks/webhook-delivery.entity.ts';
import { Access, ofProject, Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import { type AdminContext, type ProjectContext, withoutNulls } from '../api/context.ts';
import { WebhookDeliveryFilter } from './webhook.inputs.ts';
import { WebhookDeliveryConnection, WebhookDeliveryView } from './webhook-delivery.view.ts';

@Resolver(() => WebhookDeliveryView)
export class WebhookDeliveryResolver {
  @Requires('project_viewer', { about: { webhook: 'webhookId' }, scope: 'projects:read' })
  @Query(() => WebhookDeliveryConnection, {
    description: 'Newest first. Delivered ones are kept for 7 days, failed ones for 30.',
  })
  async webhookDeliveries(
    @Arg('webhookId', () => ID) webhookId: string,
    @Ctx() { em, projectId }: ProjectContext,
    @Arg('filter', () => WebhookDeliveryFilter, { nullable: true }) filter?: WebhookDeliveryFilter | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('webhookDeliveries', { first, after });
    const page = await listWebhookDeliveries(em, keyIn(projectId, webhookId), withoutNulls(filter ?? {}), request);
    return connection('webhookDeliveries', page, request);
  }

  @Requires('project_viewer', { about: { 'webhook-delivery': 'id' }, scope: 'projects:read' })
  @Query(() => WebhookDeliveryView)
  async webhookDelivery(@Arg('id', () => ID) id: string, @Ctx() { em, projectId }: ProjectContext) {
    return found(await em.findOne(WebhookDelivery, atKey(keyIn(projectId, id))), 'webhook-delivery');
  }

  @Requires('project_admin', { about: { webhook: 'id' } })
  @Mutation(() => WebhookDeliveryView, {
    description:
      'Sends the event `webhook.tested`, regardless of the types that the webhook receives. Refused if it is disabled.',
  })
  testWebhook(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.webhooks.test(keyIn(projectId, id), actor);
  }

  @Requires('project_admin', { about: { 'webhook-delivery': 'id' } })
  @Mutation(() => WebhookDeliveryView, { description: 'Sends it again now. Refused if the webhook is disabled.' })
  replayWebhookDelivery(@Arg('id', () => ID) id: string, @Ctx() { actor, domain, projectId }: ProjectContext) {
    return domain.webhooks.replay(keyIn(projectId, id), actor);
  }

  @Requires('project_admin', { about: { webhook: 'webhookId' } })
  @Mutation(() => Int, { description: 'Sends all failed deliveries again, oldest first. Returns their number.' })
  replayFailedWebhookDeliveries(
    @Arg('webhookId', () => ID) webhookId: string,
    @Ctx() { actor, domain, projectId }: ProjectContext,
  ) {
    return domain.webhooks.replayFailed(keyIn(projectId, webhookId), actor);
  }

  @Access('project_viewer', ofProject, 'audit:read')
  @FieldResolver(() => GraphQLJSONObject, {
    nullable: true,
    description: 'The body, built from the current event. Absent once the event is deleted.',
  })
  async payload(@Root() { project, eventId }: WebhookDelivery, @Ctx() { loaders }: AdminContext) {
    const event = await loaders.event({ projectId: project.id, id: eventId });
    if (!event) return null;
    const ids = [event.actorId, event.subjectId].filter((id) => isUuid(id));
    const users = await Promise.all(ids.map((id) => loaders.user(keyIn(project.id, id))));
    const subjects = new Map(users.flatMap((user) => (user?.subject == null ? [] : [[user.id, user.subject]])));
    return JSON.parse(payloadOf(event, subjects)) as Record<string, unknown>;
  }
}
