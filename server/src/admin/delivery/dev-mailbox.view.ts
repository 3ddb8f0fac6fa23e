import { ObjectType } from 'type-graphql';
import { Access, ofInstance } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { ChannelEnum } from '../api/enums.ts';
import { fields, id, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('owner', ofInstance)
@ObjectType('DevMailboxMessage', { description: 'A message in the dev mailbox.' })
class DevMailboxMessageView extends fields({
  id: id(),
  at: time(),
  channel: oneOf(ChannelEnum),
  to: text(),
  subject: nullable(text()),
  text: text(),
}) {}

export const DevMailboxConnection = connectionType(DevMailboxMessageView, 'DevMailbox', false);
