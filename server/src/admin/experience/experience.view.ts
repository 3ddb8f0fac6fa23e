import { ObjectType } from 'type-graphql';
import { locales } from '../../domain/delivery/locale.ts';
import { Access } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { boolean, fields, float, id, int, list, nullable, object, text, time } from '../api/fields.ts';

@Access('inherited')
@ObjectType('ExperienceText', { description: "A project's own text, in one language." })
export class ExperienceTextView extends fields({
  locale: text(`Language of the text: ${locales.join(', ')}.`),
  key: text('One of `Experience.textRules`.'),
  text: text(),
}) {}

@Access('inherited')
@ObjectType('ExperienceContent', { description: 'Branding of pages and mails. Null: the default.' })
export class ExperienceContentView extends fields({
  displayName: nullable(text("Shown instead of the project's name.")),
  accent: nullable(text('`#rrggbb`; adjusted for contrast, see `accentTheme`.')),
  logoId: nullable(id()),
  darkLogoId: nullable(id('For dark backgrounds; null: the same logo.')),
}) {}

@Access('inherited')
@ObjectType('ExperienceTextRule', { description: 'A text that a project can set for each language.' })
export class ExperienceTextRuleView extends fields({
  key: text(),
  kind: text('`page`, `link` (https only) or `mail`.'),
  maxLength: int('Characters.'),
  placeholders: list(text('Placeholders, written `{app}`.')),
}) {}

@Access('inherited')
@ObjectType('Experience', { description: 'Branding of a project: the published version and the draft.' })
export class ExperienceView extends fields({
  published: object(ExperienceContentView),
  publishedNumber: int('0: never published.'),
  publishedAt: nullable(time()),
  publishedBy: nullable(text()),
  draft: object(ExperienceContentView, 'Visible to admins only, until it is published.'),
  draftVersion: int('Send it as `expectedVersion` to detect concurrent changes.'),
  draftUpdatedAt: nullable(time()),
  draftUpdatedBy: nullable(text()),
}) {}

@Access('inherited')
@ObjectType('ExperienceVersion', { description: 'A published version.' })
class ExperienceVersionView extends fields({
  id: id(),
  number: int(),
  publishedAt: time(),
  publishedBy: nullable(text()),
  revertedTo: nullable(int('The version that this one restored; 0: the default branding.')),
  content: object(ExperienceContentView),
}) {}

export const ExperienceVersionConnection = connectionType(ExperienceVersionView, 'ExperienceVersion', false);

@Access('inherited')
@ObjectType('AccentTones', { description: 'A color, adjusted for one theme.' })
class AccentTonesView extends fields({
  accent: text('Buttons.'),
  accentStrong: text('Buttons on hover.'),
  onAccent: text('Text on buttons.'),
  accentText: text('Links.'),
  contrast: float('Contrast of text on buttons (WCAG 2.2): at least 4.5.'),
  textContrast: float('Lowest contrast of links on their backgrounds: at least 4.5.'),
  isAdjusted: boolean('Whether buttons differ from the chosen color.'),
}) {}

@Access('inherited')
@ObjectType('AccentTheme', { description: 'A color, adjusted for contrast in both themes.' })
export class AccentThemeView extends fields({
  light: object(AccentTonesView),
  dark: object(AccentTonesView),
}) {}
