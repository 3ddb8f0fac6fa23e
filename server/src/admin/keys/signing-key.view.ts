import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { SigningAlgorithm } from '../../domain/keys/signing-key.entity.ts';
import { Access, ofInstance } from '../api/access.ts';
import { SigningAlgorithmEnum } from '../api/enums.ts';

@Access('owner', ofInstance)
@ObjectType('SigningKey', { description: 'A signing key of the issuer, without its private key.' })
export class SigningKeyView {
  @Field(() => ID, { description: '`kid`' })
  id!: string;

  @Field(() => SigningAlgorithmEnum)
  alg!: SigningAlgorithm;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { description: 'Published earlier, so that relying parties have cached it.' })
  signsFrom!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  signsUntil!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  publishedUntil!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'Revoked in an emergency: its tokens are refused since then.',
  })
  withdrawnAt!: Date | null;
}
