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
@ObjectType('ExperienceContent', { description: 'Branding of pages and mails. Null: the default.' })
export class ExperienceContentView {
  @Field(() => String, { nullable: true, description: "Shown instead of the project's name." })
  displayName!: string | null;

  @Field(() => String, { nullable: true, description: '`#rrggbb`; adjusted for contrast, see `accentTheme`.' })
  accent!: string | null;

  @Field(() => ID, { nullable: true })
  logoId!: string | null;

  @Field(() => ID, { nullable: true, description: 'For dark backgrounds; null: the same logo.' })
  darkLogoId!: string | null;

  @Field(() => [ExperienceTextView])
  texts!: ExperienceTextView[];
}

@Access('inherited')
@ObjectType('ExperienceTextRule', { description: 'A text that a project can set for each language.' })
export class ExperienceTextRuleView {
  @Field(() => String)
  key!: string;

  @Field(() => String, { description: '`page`, `link` (https only) or `mail`.' })
  kind!: string;

  @Field(() => Int, { description: 'Characters.' })
  maxLength!: number;

  @Field(() => [String], { description: 'Placeholders, written `{app}`.' })
  placeholders!: string[];
}

@Access('inherited')
@ObjectType('Experience', { description: 'Branding of a project: the published version and the draft.' })
export class ExperienceView {
  @Field(() => ExperienceContentView)
  published!: ExperienceContentView;

  @Field(() => Int, { description: '0: never published.' })
  publishedNumber!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  publishedAt!: Date | null;

  @Field(() => String, { nullable: true })
  publishedBy!: string | null;

  @Field(() => ExperienceContentView, { description: 'Visible to admins only, until it is published.' })
  draft!: ExperienceContentView;

  @Field(() => Int, { description: 'Send it as `expectedVersion` to detect concurrent changes.' })
  draftVersion!: number;

  @Field(() => GraphQLDateTime, { nullable: true })
  draftUpdatedAt!: Date | null;

  @Field(() => String, { nullable: true })
  draftUpdatedBy!: string | null;

  @Field(() => [ExperienceTextRuleView])
  textRules!: ExperienceTextRuleView[];

  @Field(() => [ExperienceTextView], { description: 'Default texts of mails.' })
  standardMailTexts!: ExperienceTextView[];
}

@Access('inherited')
@ObjectType('ExperienceVersion', { description: 'A published version.' })
export class ExperienceVersionView {
  @Field(() => ID)
  id!: string;

  @Field(() => Int)
  number!: number;

  @Field(() => GraphQLDateTime)
  publishedAt!: Date;

  @Field(() => String, { nullable: true })
  publishedBy!: string | null;

  @Field(() => Int, { nullable: true, description: 'The version that this one restored; 0: the default branding.' })
  revertedTo!: number | null;

  @Field(() => ExperienceContentView)
  content!: ExperienceContentView;
}

export const ExperienceVersionConnection = connectionType(ExperienceVersionView, 'ExperienceVersion', false);

@Access('inherited')
@ObjectType('AccentTones', { description: 'A color, adjusted for one theme.' })
class AccentTonesView {
  @Field(() => String, { description: 'Buttons.' })
  accent!: string;

  @Field(() => String, { description: 'Buttons on hover.' })
  accentStrong!: string;

  @Field(() => String, { description: 'Text on buttons.' })
  onAccent!: string;

  @Field(() => String, { description: 'Links.' })
  accentText!: string;

  @Field(() => Float, { description: 'Contrast of text on buttons (WCAG 2.2): at least 4.5.' })
  contrast!: number;

  @Field(() => Float, { description: 'Lowest contrast of links on their backgrounds: at least 4.5.' })
  textContrast!: number;

  @Field(() => Boolean, { description: 'Whether buttons differ from the chosen color.' })
  isAdjusted!: boolean;
}

@Access('inherited')
@ObjectType('AccentTheme', { description: 'A color, adjusted for contrast in both themes.' })
export class AccentThemeView {
  @Field(() => AccentTonesView)
  light!: AccentTones;

  @Field(() => AccentTonesView)
  dark!: AccentTones;
}
