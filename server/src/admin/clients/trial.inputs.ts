import { Field, ID, InputType } from 'type-graphql';

@InputType()
export class FinishTrialInput {
  @Field(() => ID)
  clientId!: string;

  @Field(() => String, { description: 'As in the redirect.' })
  state!: string;

  @Field(() => String)
  code!: string;
}
