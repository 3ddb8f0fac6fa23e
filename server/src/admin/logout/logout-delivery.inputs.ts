import { Field, ID, InputType } from 'type-graphql';
import type { LogoutDeliveryState } from '../../domain/logout/logout-delivery.entity.ts';
import { LogoutDeliveryStateEnum } from '../api/enums.ts';

@InputType({ description: 'Absent fields do not filter.' })
export class LogoutDeliveryFilter {
  @Field(() => ID, { nullable: true })
  clientId?: string | null;

  @Field(() => LogoutDeliveryStateEnum, { nullable: true })
  state?: LogoutDeliveryState | null;

  @Field(() => ID, { nullable: true, description: 'The user whose sessions ended.' })
  userId?: string | null;
}
