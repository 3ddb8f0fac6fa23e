import { compose } from '../compose.ts';
import type { JobTable, Queue } from '../domain/kernel/queue.ts';
import { jobs } from '../jobs/jobs.ts';
import type { Services } from '../services.ts';
import type { CommandContext } from './command.ts';
import { type Opened, withDatabase } from './opened.ts';

/** An opened instance: settings, database and services. */
export interface OpenedInstance extends Opened {
  services: Services;
}

/** Opens the instance while `work` runs. A server may be running at the same time. */
export function withInstance<T>(context: CommandContext, work: (opened: OpenedInstance) => Promise<T>): Promise<T> {
  return withDatabase(context, async (opened) => {
    const { config, database, orm } = opened;
    const queue = new CommandQueue();
    const services = compose(config, database, orm, { queue, clock: context.clock });
    try {
      return await work({ ...opened, services });
    } finally {
      await queue.run(jobs(services));
    }
  });
}

/** Runs jobs at the end of the command: no server may have made the queue. A job of a transaction that failed changes nothing. */
class CommandQueue implements Queue {
  private readonly sent: { job: string; data: Record<string, unknown> }[] = [];

  async send(_em: unknown, job: string, data: Record<string, unknown>): Promise<void> {
    this.sent.push({ job, data });
  }

  async run({ queued }: JobTable): Promise<void> {
    for (const { job, data } of this.sent.splice(0)) await queued.find(({ name }) => name === job)?.run(data);
  }
}
