import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { DelegationParty } from '../../domain/clients/delegation-key.entity.ts';
import { Access, ofClient } from '../api/access.ts';
import { DelegationPartyEnum } from '../api/enums.ts';

@Access('project_viewer', ofClient, 'clients:read')
@ObjectType('DelegationKey', {
  description: "One side's Ed25519 and X25519 keys for a client's delegation. Only public keys are shown.",
})
export class DelegationKeyView {
  @Field(() => ID)
  id!: string;

  @Field(() => DelegationPartyEnum)
  party!: DelegationParty;

  @Field(() => String, { description: 'RFC 7638 thumbprint of the Ed25519 key.' })
  signingKid!: string;

  @Field(() => String, { description: 'RFC 7638 thumbprint of the X25519 key.' })
  encryptionKid!: string;

  @Field(() => String, { description: 'Ed25519, PEM.' })
  signingPublicPem!: string;

  @Field(() => String, { description: 'X25519, PEM.' })
  encryptionPublicPem!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true, description: 'Absent until replaced by newer keys.' })
  expiresAt!: Date | null;
}
