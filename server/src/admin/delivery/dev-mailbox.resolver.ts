import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import { refuse } from '../../domain/kernel/problem.ts';
import { Requires } from '../api/access.ts';
import { connection, pageRequest } from '../api/connection.ts';
import type { AdminContext } from '../api/context.ts';
import { DevMailboxConnection } from './dev-mailbox.view.ts';

@Resolver()
export class DevMailboxResolver {
  @Requires('owner', { allProjects: { always: 'it lists the messages of all projects' } })
  @Query(() => DevMailboxConnection, {
    description: 'Messages of an instance without a mail server, newest first.',
  })
  async devMailbox(
    @Ctx() { domain }: AdminContext,
    @Arg('first', () => Int, { nullable: true }) first?: number | null,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ) {
    if (!domain.mailbox) refuse({ code: 'forbidden', reason: 'this instance has no dev mailbox' });
    const request = pageRequest('devMailbox', { first, after });
    return connection('devMailbox', await domain.mailbox.list(request), request);
  }
}
