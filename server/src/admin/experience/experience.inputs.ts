import { InputType } from 'type-graphql';
import { id, inputFields, int, list, nullable, object, text } from '../api/fields.ts';

@InputType()
class ExperienceTextInput extends inputFields({
  locale: text(),
  key: text(),
  text: text(),
}) {}

@InputType({ description: 'The whole draft: absent fields have the default.' })
export class SaveExperienceDraftInput extends inputFields({
  projectId: id(),
  expectedVersion: nullable(int()),
  displayName: nullable(text()),
  accent: nullable(text('A color such as `#2f55d4`.')),
  logoId: nullable(id('From `POST /admin/projects/{id}/logos`.')),
  darkLogoId: nullable(id()),
  texts: nullable(list(object(ExperienceTextInput))),
}) {}

@InputType()
export class DiscardExperienceDraftInput extends inputFields({
  projectId: id(),
  expectedVersion: nullable(int()),
}) {}

@InputType()
export class PublishExperienceInput extends DiscardExperienceDraftInput {}

@InputType()
export class RevertExperienceInput extends inputFields({
  projectId: id(),
  number: int('The version to restore; 0: the default branding.'),
}) {}
