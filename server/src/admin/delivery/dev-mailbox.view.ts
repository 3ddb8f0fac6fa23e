import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { Access, ofInstance } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import type { MailboxMessage } from '../api/context.ts';
import { ChannelEnum } from '../api/enums.ts';

@Access('owner', ofInstance)
@ObjectType('DevMailboxMessage', { description: 'A message in the dev mailbox.' })
class DevMailboxMessageView {
  @Field(() => ID)
  id!: string;

  @Field(() => GraphQLDateTime)
  at!: Date;

  @Field(() => ChannelEnum)
  channel!: MailboxMessage['channel'];

  @Field(() => String)
  to!: string;

  @Field(() => String, { nullable: true })
  subject!: string | null;

  @Field(() => String)
  text!: string;
}

export const DevMailboxConnection = connectionType(DevMailboxMessageView, 'DevMailbox', false);
