import { Field, ID, InputType, Int } from 'type-graphql';

@InputType()
export class ExperienceTextInput {
  @Field(() => String)
  locale!: string;

  @Field(() => String)
  key!: string;

  @Field(() => String)
  text!: string;
}

@InputType({ description: 'The whole draft: absent fields have the default.' })
export class SaveExperienceDraftInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;

  @Field(() => String, { nullable: true })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: 'A color such as `#2f55d4`.' })
  accent?: string | null;

  @Field(() => ID, { nullable: true, description: 'From `POST /admin/projects/{id}/logos`.' })
  logoId?: string | null;

  @Field(() => ID, { nullable: true })
  darkLogoId?: string | null;

  @Field(() => [ExperienceTextInput], { nullable: true })
  texts?: ExperienceTextInput[] | null;
}

@InputType()
export class DiscardExperienceDraftInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

@InputType()
export class PublishExperienceInput extends DiscardExperienceDraftInput {}

@InputType()
export class RevertExperienceInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => Int, { description: 'The version to restore; 0: the default branding.' })
  number!: number;
}
