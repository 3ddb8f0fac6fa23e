import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { SigningAlgorithm } from '../../domain/keys/signing-key.entity.ts';
import { Access, ofInstance } from '../api/access.ts';
import { SigningAlgorithmEnum } from '../api/enums.ts';

@Access('owner', ofInstance)
@ObjectType('SigningKey', { description: 'A key of the issuer; its private half never leaves the server.' })
export class SigningKeyView {
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
