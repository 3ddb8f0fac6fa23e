import { Arg, Ctx, ID, Int, Query, Resolver } from 'type-graphql';
import { activityOf } from '../../domain/audit/activity.ts';
import { secondsLater } from '../../domain/kernel/clock.ts';
import { refuse } from '../../domain/kernel/problem.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext } from '../api/context.ts';
import { DayOfActivity } from './activity.view.ts';

const maxDays = 62;

@Resolver()
export class ActivityResolver {
  @Requires('project_viewer', { about: { project: 'projectId' }, scope: 'audit:read' })
  @Query(() => [DayOfActivity], {
    description: 'The last days of a project including today, oldest first; days without activity are omitted.',
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
