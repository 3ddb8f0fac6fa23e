import { InputType } from 'type-graphql';
import { LogoutDeliveryStateEnum } from '../api/enums.ts';
import { id, inputFields, nullable, oneOf } from '../api/fields.ts';

@InputType({ description: 'Absent fields do not filter.' })
export class LogoutDeliveryFilter extends inputFields({
  clientId: nullable(id()),
  state: nullable(oneOf(LogoutDeliveryStateEnum)),
  userId: nullable(id('The user whose sessions ended.')),
}) {}
