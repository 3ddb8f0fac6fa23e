import 'reflect-metadata';
import { GraphQLDateTime } from 'graphql-scalars';
import { Arg, Ctx, Field, FieldResolver, ID, Int, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { refuse } from '../domain/kernel/problem.ts';
import type { SigningAlgorithm, SigningKey } from '../domain/keys/signing-key.entity.ts';
import { connection, connectionType, pageRequest } from './connection.ts';
import type { AdminContext, MailboxMessage } from './context.ts';
import { ChannelEnum, SigningAlgorithmEnum } from './enums.ts';

@ObjectType('SigningKey', { description: 'A key of the issuer; its private half never leaves the server.' })
class SigningKeyView {
  @Field(() => ID, { description: '`kid`' })
  id!: string;

  @Field(() => SigningAlgorithmEnum)
  alg!: SigningAlgorithm;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'Published before, so that relying parties know it in time.' })
  signsFrom!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  signsUntil!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  publishedUntil!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'In an emergency: nothing of it is accepted since.' })
  withdrawnAt!: Date | null;
}

@ObjectType('DevMailboxMessage', { description: 'A message that went nowhere but here.' })
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

const DevMailboxConnection = connectionType(DevMailboxMessageView, 'DevMailbox', false);

@Resolver(() => SigningKeyView)
export class SigningKeyResolver {
  @Query(() => [SigningKeyView], { description: 'Newest first.' })
  signingKeys(@Ctx() { domain }: AdminContext) {
    return domain.keys.list();
  }

  @Mutation(() => [SigningKeyView], { description: 'Publishes a successor of each; it signs after a day.' })
  async rotateSigningKeys(@Ctx() { domain, actor }: AdminContext) {
    await domain.keys.rotate(actor);
    return domain.keys.list();
  }

  @Mutation(() => [SigningKeyView], { description: 'Emergency: every token of this key is refused from now on.' })
  async withdrawSigningKey(@Arg('id', () => ID) id: string, @Ctx() { domain, actor }: AdminContext) {
    await domain.keys.withdraw(id, actor);
    return domain.keys.list();
  }

  @FieldResolver(() => Boolean, { description: 'Whether it signs now.' })
  signing(@Root() key: SigningKey, @Ctx() { now }: AdminContext) {
    return key.signsFrom <= now && (key.signsUntil == null || key.signsUntil > now);
  }
}

@Resolver()
export class DevMailboxResolver {
  @Query(() => DevMailboxConnection, {
    description: 'What would have been sent, newest first; without a mail server only.',
  })
  async devMailbox(
    @Ctx() { domain }: AdminContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    if (!domain.mailbox) refuse({ code: 'forbidden', reason: 'messages are really sent here' });
    const request = pageRequest('devMailbox', { first, after });
    return connection('devMailbox', await domain.mailbox.list(request), request);
  }
}
