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
  /** Whether the role is one in the project. Admins of an organization have none there (decisions/0412). */
  inProject: boolean;
}

/**
 * The role's access, on the instance, in one project or in one of its organizations. Display only: the server authorizes
 * each request.
 */
export function useAccess(projectId?: string, organizationId?: string): Access {
  const { grants } = useMe();
  const role = grants.find((grant) => grant.role === 'OWNER' || grant.projectId === projectId);
  const isOwner = role?.role === 'OWNER';
  const ownIds: readonly (string | undefined)[] = role?.organizationIds ?? [];
  return {
    isOwner,
    mayChange: isOwner || role?.role === 'PROJECT_ADMIN' || ownIds.includes(organizationId),
    inProject: role?.role !== 'ORGANIZATION_ADMIN',
  };
}

export const roleNames = {
  OWNER: t('Owner'),
  PROJECT_ADMIN: t('Project admin'),
  PROJECT_VIEWER: t('Viewer'),
  ORGANIZATION_ADMIN: t('Organization admin'),
} as const;
