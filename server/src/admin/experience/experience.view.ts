import { GraphQLDateTime } from 'graphql-scalars';
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { AccentTones } from '../../domain/experience/accent.ts';
import { Access } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';

@Access('inherited')
@ObjectType('ExperienceText', { description: "A project's own text, in one language." })
export class ExperienceTextView {
  @Field(() => String, { description: 'en, de, es, fr or ja.' })
  locale!: string;

  @Field(() => String, { description: 'One of `Experience.textRules`.' })
  key!: string;

  @Field(() => String)
  text!: string;
}

@Access('inherited')
@ObjectType('ExperienceContent', { description: 'How pages and mails look. Null: as Latchkey has it.' })
export class ExperienceContentView {
  @Field(() => String, { nullable: true, description: "In the place of the project's name." })
  displayName!: string | null;

  @Field(() => String, { nullable: true, description: '`#rrggbb`; adjusted until it can be read, see `accentTheme`.' })
  accent!: string | null;

  @Field(() => ID, { nullable: true })
  logoId!: string | null;

  @Field(() => ID, { nullable: true, description: 'For dark grounds; null: the same.' })
  darkLogoId!: string | null;

  @Field(() => [ExperienceTextView])
  texts!: ExperienceTextView[];
}

@Access('inherited')
@ObjectType('ExperienceTextRule', { description: 'A text that a project may set, for each language.' })
export class ExperienceTextRuleView {
  @Field(() => String)
  key!: string;

  @Field(() => String, { description: '`page`, `link` (https only) or `mail`.' })
  kind!: string;

  @Field(() => Int, { description: 'Characters.' })
  maxLength!: number;

  @Field(() => [String], { description: 'Names that are filled in, written `{app}`.' })
  placeholders!: string[];
}

@Access('inherited')
@ObjectType('Experience', { description: 'What people of a project see, and what they are to see.' })
export class ExperienceView {
  @Field(() => ExperienceContentView)
  published!: ExperienceContentView;

  @Field(() => Int, { description: '0: nothing was ever published.' })
  publishedNumber!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  publishedAt!: Date | null;

  @Field(() => String, { nullable: true })
  publishedBy!: string | null;

  @Field(() => ExperienceContentView, { description: 'Seen by admins alone, until it is published.' })
  draft!: ExperienceContentView;

  @Field(() => Int, { description: 'Send it back as `expectedVersion` to hear of a change by somebody else.' })
  draftVersion!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  draftUpdatedAt!: Date | null;

  @Field(() => String, { nullable: true })
  draftUpdatedBy!: string | null;

  @Field(() => [ExperienceTextRuleView])
  textRules!: ExperienceTextRuleView[];

  @Field(() => [ExperienceTextView], { description: 'Our own words of mails, where a project has none.' })
  standardMailTexts!: ExperienceTextView[];
}

@Access('inherited')
@ObjectType('ExperienceVersion', { description: 'What was published once.' })
export class ExperienceVersionView {
  @Field(() => ID)
  id!: string;

  @Field(() => Int)
  number!: number;

  @Field(() => GraphQLDateTime)
  publishedAt!: Date;

  @Field(() => String, { nullable: true })
  publishedBy!: string | null;

  @Field(() => Int, { nullable: true, description: 'The version that this one brought back; 0: Latchkey’s own look.' })
  revertedTo!: number | null;

  @Field(() => ExperienceContentView)
  content!: ExperienceContentView;
}

export const ExperienceVersionConnection = connectionType(ExperienceVersionView, 'ExperienceVersion', false);

@Access('inherited')
@ObjectType('AccentTones', { description: 'What a colour becomes in one theme.' })
class AccentTonesView {
  @Field(() => String, { description: 'Of buttons.' })
  accent!: string;

  @Field(() => String, { description: 'Of buttons under the pointer.' })
  accentStrong!: string;

  @Field(() => String, { description: 'Of the words on buttons.' })
  onAccent!: string;

  @Field(() => String, { description: 'Of links.' })
  accentText!: string;

  @Field(() => Float, { description: 'Of the words on buttons (WCAG 2.2): at least 4.5.' })
  contrast!: number;

  @Field(() => Float, { description: 'Of links on the ground where they are hardest to read: at least 4.5.' })
  textContrast!: number;

  @Field(() => Boolean, { description: 'Whether buttons have another tone than was chosen.' })
  isAdjusted!: boolean;
}

@Access('inherited')
@ObjectType('AccentTheme', { description: 'A colour, adjusted by rule until it can be read in both themes.' })
export class AccentThemeView {
  @Field(() => AccentTonesView)
  light!: AccentTones;

  @Field(() => AccentTonesView)
  dark!: AccentTones;
}
