import { InputType } from 'type-graphql';
import { locales } from '../../domain/delivery/locale.ts';
import { ChannelEnum, MessageTemplateEnum } from '../api/enums.ts';
import { id, inputFields, nullable, oneOf, text } from '../api/fields.ts';

@InputType()
export class TestSenderInput extends inputFields({
  projectId: id(),
  channel: oneOf(ChannelEnum),
  to: nullable(text("Default: the caller's own address or phone. Only owners can use another.")),
  template: nullable(oneOf(MessageTemplateEnum, 'Default: a test message.')),
  locale: nullable(text(`Language of the message: ${locales.join(', ')}; default: en.`)),
}) {}
