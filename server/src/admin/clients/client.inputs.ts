import { InputType } from 'type-graphql';
import { clientFields } from '../../domain/clients/client.resource.ts';
import { boolean, id, inputFields, int, nullable } from '../api/fields.ts';
import { changeOf, creationOf } from '../api/resource-types.ts';

@InputType()
export class CreateClientInput extends inputFields({
  ...creationOf(clientFields),
  projectId: id(),
  secretKey: nullable(boolean('False: no secret key, for an application without a back end. Default: true.')),
}) {}

@InputType({
  description:
    'Absent fields are unchanged; null clears `jwks`, `jwksUri`, `backchannelLogoutUri` and the lifetimes of tokens.',
})
export class UpdateClientInput extends inputFields({
  ...changeOf(clientFields),
  id: id(),
  expectedVersion: nullable(int()),
}) {}
