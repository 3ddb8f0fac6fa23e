import { Field, ID, InputType } from 'type-graphql';
import type { BatchFormat, StreamKind } from '../../domain/streams/log-stream.entity.ts';
import { BatchFormatEnum, StreamKindEnum } from '../api/enums.ts';

const types = 'Event types, e.g. `user.created`, or all of a noun, e.g. `user.*`; none: all.';
const target =
  'HTTP: an https URL. SYSLOG: `tls://host:port`. FILE: a name that ends in `.jsonl`. Hosts must have a public address.';
const secret = 'Value of the header, e.g. `Bearer` and a token. For HTTP.';

@InputType()
export class CreateLogStreamInput {
  @Field(() => ID, { nullable: true, description: 'Absent: the events of the instance and of all projects.' })
  projectId?: string | null;

  @Field(() => StreamKindEnum)
  kind!: StreamKind;

  @Field(() => String, { description: target })
  target!: string;

  @Field(() => [String], { nullable: true, description: types })
  types?: string[] | null;

  @Field(() => String, { nullable: true, description: 'One line of at most 100 characters.' })
  description?: string | null;

  @Field(() => BatchFormatEnum, { nullable: true, description: 'Default: JSON_LINES. For HTTP.' })
  format?: BatchFormat | null;

  @Field(() => Boolean, { nullable: true, description: 'Compresses the body. For HTTP.' })
  gzip?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Name of the header with the secret; default: `Authorization`.' })
  header?: string | null;

  @Field(() => String, { nullable: true, description: secret })
  secret?: string | null;
}

@InputType({ description: 'Absent fields do not change.' })
export class UpdateLogStreamInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true, description: `${target} Another target needs the secret again.` })
  target?: string | null;

  @Field(() => [String], { nullable: true, description: types })
  types?: string[] | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => BatchFormatEnum, { nullable: true })
  format?: BatchFormat | null;

  @Field(() => Boolean, { nullable: true })
  gzip?: boolean | null;

  @Field(() => String, { nullable: true, description: 'With `secret`. Null, also for the secret: no header.' })
  header?: string | null;

  @Field(() => String, { nullable: true, description: secret })
  secret?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'True: events wait, for 30 days at most.' })
  paused?: boolean | null;
}
