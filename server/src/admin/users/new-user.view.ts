import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { fields, int, list, nullable, object, text } from '../api/fields.ts';

@Access('inherited')
@ObjectType({ description: 'A row of an import that was not added.' })
class RefusedRow extends fields({
  row: int('Place in `rows`, from 0.'),
  field: nullable(text('The field that was refused.')),
  code: text('The error code, as in `extensions.code`.'),
  message: text(),
}) {}

@Access('inherited')
@ObjectType({ description: 'The result of an import. Each row succeeds or fails independently.' })
export class ImportedUsers extends fields({
  created: int('In a dry run: the number that would be added.'),
  known: list(int('Rows of existing users, by email address or userName: unchanged.')),
  refused: list(object(RefusedRow)),
}) {}
