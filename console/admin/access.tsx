import { createContext, use } from 'react';
import type { SessionQuery } from './generated/operations.ts';
import { t } from './language/language.ts';

export type Me = SessionQuery['me'];

const MeContext = createContext<Me | undefined>(undefined);
export const MeProvider = MeContext.Provider;

export function useMe(): Me {
  const me = use(MeContext);
  if (!me) throw new Error('not signed in');
  return me;
}

export interface Access {
  isOwner: boolean;
  /** Whether the role allows changes; viewers have read access only. */
  mayChange: boolean;
}

/** The role's access, on the instance or in one project. Display only: the server authorizes each request. */
export function useAccess(projectId?: string): Access {
  const { grants } = useMe();
  const isOwner = grants.some(({ role }) => role === 'OWNER');
  const isAdmin = grants.some((grant) => grant.role === 'PROJECT_ADMIN' && grant.projectId === projectId);
  return { isOwner, mayChange: isOwner || isAdmin };
}

export const roleNames = {
  OWNER: t('Owner'),
  PROJECT_ADMIN: t('Project admin'),
  PROJECT_VIEWER: t('Viewer'),
  ORGANIZATION_ADMIN: t('Organization admin'),
} as const;
