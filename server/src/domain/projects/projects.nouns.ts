import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Project } from './project.entity.ts';

const nouns = {
  project: { table: 'projects', project: 'id' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    projects: typeof nouns;
  }
}

export const projectsNouns = {
  nouns,
  entities: [Project],
  transfer: [{ type: 'project', table: 'projects', parent: null, key: ['id'], omit: ['built_in'] }],
} satisfies Declaration;
