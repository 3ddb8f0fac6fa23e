import { createContext, use } from 'react';
import type { SessionQuery } from './generated/operations.ts';

export type Me = SessionQuery['me'];

const MeContext = createContext<Me | undefined>(undefined);
export const MeProvider = MeContext.Provider;

export function useMe(): Me {
  const me = use(MeContext);
  if (!me) throw new Error('nobody is signed in here');
  return me;
}

export interface Access {
  isOwner: boolean;
  /** May change what belongs to the project; a viewer may only look. */
  mayChange: boolean;
}

/** What the reader may do, here or in one project; the server decides it again for each request. */
export function useAccess(projectId?: string): Access {
  const { grants } = useMe();
  const isOwner = grants.some(({ role }) => role === 'OWNER');
  const isAdmin = grants.some((grant) => grant.role === 'PROJECT_ADMIN' && grant.projectId === projectId);
  return { isOwner, mayChange: isOwner || isAdmin };
}

export const roleNames = { OWNER: 'Owner', PROJECT_ADMIN: 'Project admin', PROJECT_VIEWER: 'Viewer' } as const;
