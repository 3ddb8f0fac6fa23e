import { Field, ID, InputType } from 'type-graphql';
import type { Channel } from '../../domain/delivery/delivery.ts';
import type { TemplateName } from '../../domain/delivery/samples.ts';
import { ChannelEnum, MessageTemplateEnum } from '../api/enums.ts';

@InputType()
export class TestSenderInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => ChannelEnum)
  channel!: Channel;

  @Field(() => String, {
    nullable: true,
    description: "Default: the caller's own address or phone. Only owners can use another.",
  })
  to?: string | null;

  @Field(() => MessageTemplateEnum, { nullable: true, description: 'Default: a test message.' })
  template?: TemplateName | null;

  @Field(() => String, { nullable: true, description: 'en, de, es, fr or ja; default: en.' })
  locale?: string | null;
}
