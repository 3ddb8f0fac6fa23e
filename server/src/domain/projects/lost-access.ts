import type { EntityManager } from '@mikro-orm/postgresql';

/** Users who may have lost access to applications. They may also still have it, by another rule. */
export interface LostAccess {
  projectId: string;
  /** Absent: each application of the project. */
  clientId?: string;
  /** At most {@link maxLost}. Absent: each user of the application. */
  userIds?: readonly string[];
}

export const maxLost = 500;

/** Joins: a job ends what those of them who have lost access have at the applications (decisions/0371). */
export type AccessLost = (em: EntityManager, lost: LostAccess) => Promise<void>;
