import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Backup } from './backup.entity.ts';
import { Process } from './process.entity.ts';

export const instanceNouns = {
  entities: [Backup, Process],
} satisfies Declaration;
