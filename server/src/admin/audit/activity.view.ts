import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';

@Access('inherited')
@ObjectType({ description: 'Activity of a project on one day.' })
export class DayOfActivity {
  @Field(() => String, { description: 'In UTC, e.g. `2026-03-01`.' })
  day!: string;

  @Field(() => Int)
  signIns!: number;

  @Field(() => Int, { description: 'Sign-ins without a code, on a trusted device.' })
  signInsOnKnownDevices!: number;

  @Field(() => Int)
  signInsWithPasskeys!: number;

  @Field(() => Int, { description: 'Distinct users who signed in.' })
  activeUsers!: number;

  @Field(() => Int)
  codesSent!: number;

  @Field(() => Int, { description: 'Sign-in codes that were accepted.' })
  codesVerified!: number;

  @Field(() => Int, { description: 'Total seconds from sending to entering, over all verified codes.' })
  codeSeconds!: number;

  @Field(() => Int, { description: 'Rejected one-time codes, second factors, device proofs and passkeys.' })
  refused!: number;

  @Field(() => Int, { description: "Delivered logout tokens of that day's logouts." })
  logoutsDelivered!: number;

  @Field(() => Int, { description: 'Logout tokens that could not be delivered.' })
  logoutsFailed!: number;

  @Field(() => Int)
  scimRequests!: number;

  @Field(() => Int, { description: 'Responses with 4xx.' })
  scimRefused!: number;

  @Field(() => Int, { description: 'Responses with 5xx.' })
  scimFailed!: number;
}
