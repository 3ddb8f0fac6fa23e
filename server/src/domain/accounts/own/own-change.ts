import type { EntityManager } from '@mikro-orm/postgresql';
import type { Locale } from '../../delivery/locale.ts';
import type { Actor } from '../../kernel/actor.ts';
import { type Database, pastDeadlocks } from '../../kernel/database.ts';
import { refuse } from '../../kernel/problem.ts';
import type { Project } from '../../projects/project.entity.ts';
import { type FreshnessDeps, isFreshNow } from '../../sessions/freshness.ts';
import type { Session } from '../../sessions/session.entity.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { User } from '../../users/user.entity.ts';
import type { Users } from '../../users/users.ts';

/** A browser with a live session. The cookie determines the account, never a form. */
export interface Visitor {
  project: Project;
  user: User;
  session: Session;
}

/** A change that a user makes to their own account. */
export interface OwnChange {
  visitor: Visitor;
  actor: Actor;
  /** Language of the notice, if one is sent. */
  locale: Locale;
}

/** One change in its transaction: the user is locked, the session is live. */
export type OwnWork<T> = (em: EntityManager, user: User, session: Session) => Promise<T>;

interface Deps {
  db: Database;
  sessions: Pick<Sessions, 'listLive'>;
  users: Pick<Users, 'locked'>;
}

/** Runs one change under the user's lock, and checks the session again. Refuses `unauthenticated` if it is not live. */
export function underLock<T>({ db, sessions, users }: Deps, visitor: Visitor, work: OwnWork<T>): Promise<T> {
  return pastDeadlocks(() =>
    db.transaction(async (em) => {
      const user = await users.locked(em, visitor.project.id, visitor.user.id);
      const live = user?.active ? await sessions.listLive(em, visitor.project, user.id) : [];
      const session = live.find(({ id }) => id === visitor.session.id);
      if (!user || !session) return refuse({ code: 'unauthenticated' });
      return work(em, user, session);
    }),
  );
}

/** Refuses `forbidden` if the sign-in is not fresh. */
export async function checkFresh(deps: FreshnessDeps, em: EntityManager, user: User, session: Session): Promise<void> {
  if (!(await isFreshNow(deps, em, user, session))) refuse({ code: 'forbidden', reason: 'the sign-in is not fresh' });
}
