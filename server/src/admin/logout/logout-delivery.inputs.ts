import { Field, ID, InputType } from 'type-graphql';
import type { LogoutDeliveryState } from '../../domain/logout/logout-delivery.entity.ts';
import { LogoutDeliveryStateEnum } from '../api/enums.ts';

@InputType({ description: 'What is absent is not asked.' })
export class LogoutDeliveryFilter {
  @Field(() => ID, { nullable: true })
  clientId?: string | null;

  @Field(() => LogoutDeliveryStateEnum, { nullable: true })
  state?: LogoutDeliveryState | null;

  @Field(() => ID, { nullable: true, description: 'Whose sessions ended.' })
  userId?: string | null;
}
