import { Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { worst } from '../../domain/instance/checks.ts';
import type { SystemStatusReport } from '../../domain/instance/system-status.ts';
import { Requires } from '../api/access.ts';
import type { AdminContext } from '../api/context.ts';
import { CheckLevelEnum } from '../api/enums.ts';
import { SystemStatusView } from './system.view.ts';

@Resolver(() => SystemStatusView)
export class SystemResolver {
  @Requires('owner', { allProjects: { always: 'it reads the last messages of all projects' } })
  @Query(() => SystemStatusView, { description: 'Health of the instance, for owners.' })
  system(@Ctx() { domain, em }: AdminContext) {
    return domain.systemStatus.report(em);
  }

  @FieldResolver(() => CheckLevelEnum, { description: 'The worst level of its checks.' })
  level(@Root() { checks }: SystemStatusReport) {
    return worst(checks);
  }
}
