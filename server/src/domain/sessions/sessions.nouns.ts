import type { Declaration } from '../kernel/nouns/declaration.ts';
import type { UserTables } from '../users/user-tables.ts';
import { Participation } from './participation.entity.ts';
import { Session } from './session.entity.ts';
import { sessionTables } from './user-tables.ts';

const nouns = {
  session: { table: 'sessions' },
} as const;

declare module '../kernel/nouns/declaration.ts' {
  interface Nouns {
    sessions: typeof nouns;
  }
}

export const sessionsNouns = {
  nouns,
  entities: [Session, Participation],
  userTables: [sessionTables],
} satisfies Declaration<UserTables>;
