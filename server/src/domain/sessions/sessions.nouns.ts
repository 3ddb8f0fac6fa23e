import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Participation } from './participation.entity.ts';
import { Session } from './session.entity.ts';
import { sessionTables } from './user-tables.ts';

const nouns = {
  session: { table: 'sessions' },
} as const;

const events = {
  'session.ended': ['sign-in', 'A session of {person} ended'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Nouns {
    sessions: typeof nouns;
  }
  interface Events {
    sessions: typeof events;
  }
}

export const sessionsNouns = {
  nouns,
  events,
  entities: [Session, Participation],
  userTables: [sessionTables],
} satisfies Declaration<UserTables>;
