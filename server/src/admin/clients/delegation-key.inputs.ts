import { Field, ID, InputType, Int } from 'type-graphql';

@InputType()
export class RegisterDelegationKeysInput {
  @Field(() => ID)
  clientId!: string;

  @Field(() => String, { description: "The client's Ed25519 public key, PEM." })
  signingKey!: string;

  @Field(() => String, { description: "The client's X25519 public key, PEM." })
  encryptionKey!: string;

  @Field(() => Int, { nullable: true, description: 'How long the previous keys stay valid; default: one week.' })
  overlapSeconds?: number | null;
}

@InputType()
export class RotateDelegationKeysInput {
  @Field(() => ID)
  clientId!: string;

  @Field(() => Int, { nullable: true, description: 'How long the previous keys stay valid; default: one week.' })
  overlapSeconds?: number | null;
}
