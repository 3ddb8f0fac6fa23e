import 'reflect-metadata';
import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { activityOf } from '../domain/audit/activity.ts';
import { secondsLater } from '../domain/kernel/clock.ts';
import { refuse } from '../domain/kernel/problem.ts';
import type { AdminContext } from './context.ts';

@ObjectType({ description: 'What a day of a project was like.' })
class DayOfActivity {
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

const maxDays = 62;

@Resolver()
export class ActivityResolver {
  @Query(() => [DayOfActivity], {
    description: 'The last days of a project, oldest first, today included; days without anything are left out.',
  })
  activity(
    @Arg('projectId', () => ID) projectId: string,
    @Arg('days', () => Int) days: number,
    @Ctx() { em, now }: AdminContext,
  ) {
    if (days < 1 || days > maxDays) refuse({ code: 'invalid', field: 'days', reason: `must be from 1 to ${maxDays}` });
    return activityOf(em, projectId, secondsLater(now, -(days - 1) * 24 * 3600));
  }
}
