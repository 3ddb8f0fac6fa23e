import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ChannelEnum, MessageTemplateEnum } from '../api/enums.ts';
import { boolean, fields, id, int, list, nullable, object, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'audit:read')
@ObjectType('Message', { description: 'The delivery of a mail or SMS, without its content.' })
export class MessageView extends fields({
  id: id(),
  createdAt: time('Time of its creation.'),
  channel: oneOf(ChannelEnum),
  template: oneOf(MessageTemplateEnum),
  locale: text('Language.'),
  attempts: int(),
  note: nullable(text('Reason why the last attempt failed, or why the message was suppressed.')),
  sentAt: nullable(time()),
  expiresAt: time('Not sent after this.'),
}) {}

export const MessageConnection = connectionType(MessageView, 'Message', false);

@Access('inherited')
@ObjectType('MessagePreview', { description: 'A template with sample values.' })
export class MessagePreviewView extends fields({
  subject: text(),
  text: text('The mail as plain text.'),
  sms: nullable(text('Null if the template is never sent by SMS.')),
}) {}

@Access('inherited')
@ObjectType('MessageSender', {
  description: 'Senders of this instance. Configured by environment variables only.',
})
export class MessageSenderView extends fields({
  channel: oneOf(ChannelEnum),
  kind: nullable(text('`smtp`, `sms-gateway`, `twilio` or `mailbox`; null: none.')),
  target: nullable(text('Host and port.')),
  from: nullable(text('The sender of its messages.')),
  variables: list(text('The settings that configure it.')),
}) {}

@Access('inherited')
@ObjectType('DiagnosisStage')
class DiagnosisStageView extends fields({
  name: text('`dns`, `connect`, `tls`, `sign-in`, `send`; SMS: `reach`, `authorise`, `accept`; `settings`.'),
  state: text('`passed`, `failed`, `skipped` or `not-reached`.'),
  milliseconds: nullable(int()),
  detail: nullable(text("The observed detail, or the server's response.")),
  advice: nullable(text('The remedy.')),
}) {}

@Access('inherited')
@ObjectType('SenderDiagnosis', { description: 'Stages of a test message.' })
export class SenderDiagnosisView extends fields({
  channel: oneOf(ChannelEnum),
  to: text(),
  passed: boolean(),
  stages: list(object(DiagnosisStageView)),
}) {}
