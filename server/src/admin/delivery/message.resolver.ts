import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Channel } from '../../domain/delivery/delivery.ts';
import { type Locale, locales } from '../../domain/delivery/locale.ts';
import { maskAddress, maskPhone } from '../../domain/delivery/mask.ts';
import { type Message, type MessageOutcome, outcomeOf } from '../../domain/delivery/message.entity.ts';
import { sampleOf, type TemplateName } from '../../domain/delivery/samples.ts';
import { renderMail, renderSms } from '../../domain/delivery/templates.ts';
import { brandIn } from '../../domain/experience/content.ts';
import { mailLookOf } from '../../domain/experience/mail-look.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { inProject } from '../../domain/kernel/scope.ts';
import { Project } from '../../domain/projects/project.entity.ts';
import { atKey } from '../../domain/projects/tenant.ts';
import { isAddress, isE164 } from '../../domain/users/login.ts';
import { User } from '../../domain/users/user.entity.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { AdminContext } from '../api/context.ts';
import { ChannelEnum, MessageStateEnum, MessageTemplateEnum } from '../api/enums.ts';
import { TestSenderInput } from './message.inputs.ts';
import {
  MessageConnection,
  MessagePreviewView,
  MessageSenderView,
  MessageView,
  SenderDiagnosisView,
} from './message.view.ts';
import { sampleAppOf } from './sample-app.ts';

/** Templates that can be sent by SMS. */
const bySms: TemplateName[] = ['factor-code', 'phone-code', 'test-message'];

@Resolver(() => MessageView)
export class MessageResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'audit:read' })
  @Query(() => MessageConnection, { description: 'Mail and SMS of a project of the last 30 days, newest first.' })
  async messages(
    @Arg('projectId', () => ID) projectId: string,
    @Ctx() { domain, em }: AdminContext,
    @Arg('channel', () => ChannelEnum, { nullable: true }) channel?: Channel | null,
    @Arg('state', () => MessageStateEnum, { nullable: true }) state?: MessageOutcome | null,
    @Arg('template', () => MessageTemplateEnum, { nullable: true }) template?: TemplateName | null,
    @Arg('recipient', () => String, { nullable: true, description: 'The whole address or number.' })
    recipient?: string | null,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    const request = pageRequest('messages', { first, after });
    const filter = {
      channel: channel ?? undefined,
      state: state ?? undefined,
      template: template ?? undefined,
      recipient: recipient?.trim() || undefined,
    };
    return connection('messages', await domain.delivery.log(em, projectId, filter, request), request);
  }

  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'projects:read' })
  @Query(() => MessagePreviewView, {
    description: 'A template as this project sends it, with sample values.',
  })
  async messagePreview(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('template', () => MessageTemplateEnum) template: TemplateName,
    @Arg('locale', () => String) locale: string,
    @Ctx() { domain, em, now }: AdminContext,
    @Arg('draft', () => Boolean, { nullable: true, description: 'Uses the draft of the experience.' })
    draft?: boolean | null,
  ) {
    const language = checkLocale(locale);
    const content = sampleOf(template, await sampleAppOf(em, projectId), now);
    const { name } = await em.findOneOrFail(Project, projectId);
    const state = await domain.experiences.state(em, projectId);
    const look = mailLookOf(brandIn(draft ? state.draft : state.published, name, language));
    const { subject, text } = renderMail(content, language, look);
    return { subject, text, sms: bySms.includes(template) ? renderSms(content, language) : null };
  }

  @Requires('admin')
  @Query(() => [MessageSenderView], { description: 'Mail first, then SMS.' })
  messageSenders(@Ctx() { domain }: AdminContext) {
    const { mail, sms } = domain.delivery.senders;
    const shown = (channel: Channel, sender: typeof mail | typeof sms, variables: string[]) => ({
      channel,
      kind: sender?.kind ?? null,
      target: sender?.target ?? null,
      from: sender?.from ?? null,
      variables,
    });
    return [
      shown('mail', mail, ['SMTP_URL', 'MAIL_FROM']),
      shown('sms', sms, ['SMS_URL', 'TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM']),
    ];
  }

  @Requires('project_admin', { about: { project: 'projectId' } })
  @Mutation(() => SenderDiagnosisView, { description: 'Sends one message now and reports each stage.' })
  async testSender(@Arg('input', () => TestSenderInput) input: TestSenderInput, @Ctx() ctx: AdminContext) {
    const { projectId, channel } = input;
    const locale = checkLocale(input.locale ?? 'en');
    const template = input.template ?? 'test-message';
    if (channel === 'sms' && !bySms.includes(template)) {
      refuse({ code: 'invalid', field: 'template', reason: 'is never sent by SMS' });
    }
    const recipient = await recipientOf(ctx, channel, input.to);
    const app = await sampleAppOf(ctx.em, projectId);
    return ctx.domain.senderTests.run({ projectId, channel, ...recipient, template, locale, app }, ctx.actor);
  }

  @FieldResolver(() => MessageStateEnum)
  state(@Root() message: Message) {
    return outcomeOf(message);
  }

  @FieldResolver(() => String, { description: 'Masked: `a…@example.com`, `…0143`.' })
  recipient(@Root() { channel, recipient }: Message) {
    return channel === 'sms' ? maskPhone(recipient) : maskAddress(recipient);
  }
}

/** The caller's own address or phone; owners may choose another. Refuses `invalid`, `forbidden`. */
async function recipientOf(
  { caller, em }: AdminContext,
  channel: Channel,
  asked?: string | null,
): Promise<{ to: string; isOwn: boolean }> {
  const { user: own } = caller;
  const user = own ? await inProject(own.project.id, () => em.findOne(User, atKey(own))) : null;
  const known = (channel === 'mail' ? user?.email : user?.phone) ?? null;
  const to = asked?.trim() || known;
  if (to === null) {
    const reason = `is required: you have no ${channel === 'mail' ? 'address' : 'phone number'} on record`;
    refuse({ code: 'invalid', field: 'to', reason });
  }
  if (channel === 'mail' ? !isAddress(to) : !isE164(to)) {
    const reason = channel === 'mail' ? 'must be a mail address' : 'must be a number such as +12025550143';
    refuse({ code: 'invalid', field: 'to', reason });
  }
  const isOwn = to.toLowerCase() === known?.toLowerCase();
  if (!isOwn && !caller.grants.owner) {
    refuse({ code: 'forbidden', reason: 'only owners can send tests to other recipients' });
  }
  return { to, isOwn };
}

function checkLocale(text: string): Locale {
  const locale = locales.find((one) => one === text);
  return locale ?? refuse({ code: 'invalid', field: 'locale', reason: `must be one of ${locales.join(', ')}` });
}
