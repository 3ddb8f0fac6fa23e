import { compose } from '../compose.ts';
import { StartError } from '../instance.ts';
import type { Services } from '../services.ts';
import type { CommandContext } from './command.ts';
import { type Opened, withDatabase } from './opened.ts';

/** An opened instance: settings, database and services. */
export interface OpenedInstance extends Opened {
  services: Services;
}

/** Opens the instance while `work` runs. A server may be running at the same time. */
export function withInstance<T>(context: CommandContext, work: (opened: OpenedInstance) => Promise<T>): Promise<T> {
  return withDatabase(context, (opened) => {
    // Commands do not enqueue jobs.
    const refuseJobs = async () => Promise.reject(new StartError('commands cannot enqueue jobs'));
    const queue = { send: refuseJobs };
    const { config, database, orm } = opened;
    return work({ ...opened, services: compose(config, database, orm, { queue, clock: context.clock }) });
  });
}
