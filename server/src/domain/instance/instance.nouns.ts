import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Backup } from './backup.entity.ts';
import { Process } from './process.entity.ts';

const events = {
  'backup.made': ['administration', 'A backup was created'],
  'backup.restored': ['administration', 'A backup was restored'],
  'instance.created': ['administration', 'This instance was created'],
  'master-key.changed': ['administration', 'The master key was changed'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Events {
    instance: typeof events;
  }
}

export const instanceNouns = {
  events,
  entities: [Backup, Process],
} satisfies Declaration;
