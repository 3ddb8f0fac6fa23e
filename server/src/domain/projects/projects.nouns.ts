import type { Declaration } from '../kernel/nouns/declaration.ts';
import { Project } from './project.entity.ts';
import { projectFields, sessionPolicyFields } from './project.resource.ts';

const nouns = {
  project: { table: 'projects', project: 'id' },
} as const;

const events = {
  'project.created': ['administration', '{actor} created the project {subject}'],
  'project.deleted': ['administration', '{actor} deleted the project {subject}'],
  'project.exported': ['administration', '{actor} exported the project {subject}'],
  'project.imported': ['administration', '{actor} imported the project {subject}'],
  'project.session-policy-updated': ['administration', '{actor} changed the session limits of {subject}'],
  'project.test_mode_ended': ['administration', 'Test mode of {subject} was turned off'],
  'project.updated': ['administration', '{actor} changed the settings of {subject}'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    projects: typeof nouns;
  }
  interface Events {
    projects: typeof events;
  }
}

export const projectsNouns = {
  nouns,
  events,
  resources: { Project: { ...projectFields, ...sessionPolicyFields } },
  entities: [Project],
  transfer: [{ type: 'project', table: 'projects', parent: null, key: ['id'], omit: ['built_in'] }],
} satisfies Declaration;
