import { InputType } from 'type-graphql';
import { id, inputFields, text } from '../api/fields.ts';

@InputType()
export class FinishTrialInput extends inputFields({
  clientId: id(),
  state: text('As in the redirect.'),
  code: text(),
}) {}
