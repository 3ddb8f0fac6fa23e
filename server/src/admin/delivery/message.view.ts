import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { Channel } from '../../domain/delivery/delivery.ts';
import type { MessageOutcome } from '../../domain/delivery/message.entity.ts';
import type { TemplateName } from '../../domain/delivery/samples.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ChannelEnum, MessageStateEnum, MessageTemplateEnum } from '../api/enums.ts';

@Access('project_viewer', ofProject, 'audit:read')
@ObjectType('Message', { description: 'The delivery of a mail or SMS, without its content.' })
export class MessageView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime, { description: 'When it was enqueued.' })
  createdAt!: Date;

  @Field(() => ChannelEnum)
  channel!: Channel;

  @Field(() => MessageTemplateEnum)
  template!: TemplateName;

  @Field(() => String, { description: 'Masked: `a…@example.com`, `…0143`.' })
  recipient!: string;

  @Field(() => String, { description: 'Language.' })
  locale!: string;

  @Field(() => MessageStateEnum)
  state!: MessageOutcome;

  @Field(() => Int)
  attempts!: number;

  @Field(() => String, { nullable: true, description: 'Why the last attempt failed, or why it was suppressed.' })
  note!: string | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  sentAt!: Date | null;

  @Field(() => GraphQLDateTime, { description: 'Not sent after this.' })
  expiresAt!: Date;
}

export const MessageConnection = connectionType(MessageView, 'Message', false);

@Access('inherited')
@ObjectType('MessagePreview', { description: 'A template with sample values.' })
export class MessagePreviewView {
  @Field(() => String)
  subject!: string;

  @Field(() => String, { description: 'The mail as plain text.' })
  text!: string;

  @Field(() => String, { nullable: true, description: 'Null if the template is never sent by SMS.' })
  sms!: string | null;
}

@Access('inherited')
@ObjectType('MessageSender', {
  description: 'How this instance sends messages. Configured by environment variables only.',
})
export class MessageSenderView {
  @Field(() => ChannelEnum)
  channel!: Channel;

  @Field(() => String, { nullable: true, description: '`smtp`, `sms-gateway`, `twilio` or `mailbox`; null: none.' })
  kind!: string | null;

  @Field(() => String, { nullable: true, description: 'Host and port.' })
  target!: string | null;

  @Field(() => String, { nullable: true, description: 'The sender of its messages.' })
  from!: string | null;

  @Field(() => [String], { description: 'The settings that configure it.' })
  variables!: string[];
}

@Access('inherited')
@ObjectType('DiagnosisStage')
export class DiagnosisStageView {
  @Field(() => String, {
    description: '`dns`, `connect`, `tls`, `sign-in`, `send`; SMS: `reach`, `authorise`, `accept`; `settings`.',
  })
  name!: string;

  @Field(() => String, { description: '`passed`, `failed`, `skipped` or `not-reached`.' })
  state!: string;

  @Field(() => Int, { nullable: true })
  milliseconds!: number | null;

  @Field(() => String, { nullable: true, description: "The observed detail, or the server's response." })
  detail!: string | null;

  @Field(() => String, { nullable: true, description: 'The remedy.' })
  advice!: string | null;
}

@Access('inherited')
@ObjectType('SenderDiagnosis', { description: 'Stages of a test message.' })
export class SenderDiagnosisView {
  @Field(() => ChannelEnum)
  channel!: Channel;

  @Field(() => String)
  to!: string;

  @Field(() => Boolean)
  passed!: boolean;

  @Field(() => [DiagnosisStageView])
  stages!: DiagnosisStageView[];
}
