import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';

@Access('inherited')
@ObjectType({ description: 'What a day of a project was like.' })
export class DayOfActivity {
  @Field(() => String, { description: 'In UTC, e.g. `2026-03-01`.' })
  day!: string;

  @Field(() => Int)
  signIns!: number;

  @Field(() => Int, { description: 'Of them, those for which no code was asked.' })
  signInsOnKnownDevices!: number;

  @Field(() => Int, { description: 'Different users who signed in.' })
  activeUsers!: number;

  @Field(() => Int)
  codesSent!: number;

  @Field(() => Int, { description: 'Of a sign-in, entered and accepted.' })
  codesVerified!: number;

  @Field(() => Int, { description: 'From sending to entering, of all that were entered together.' })
  codeSeconds!: number;

  @Field(() => Int, { description: 'One-time codes, second factors and device proofs that were not accepted.' })
  refused!: number;

  @Field(() => Int, { description: "Logout tokens of that day's logouts that arrived." })
  logoutsDelivered!: number;

  @Field(() => Int, { description: 'Those that were given up.' })
  logoutsFailed!: number;

  @Field(() => Int)
  scimRequests!: number;

  @Field(() => Int, { description: 'Answered 4xx.' })
  scimRefused!: number;

  @Field(() => Int, { description: 'Answered 5xx.' })
  scimFailed!: number;
}
