import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useQuery } from '../../api.ts';
import { SignInClients } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';

/** The reason why users cannot be invited to the project; undefined if they can, and while loading. */
export function useUninvitable(isAsked = true): ReactNode {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const { clients } = useQuery(SignInClients, { projectId }, { pause: !isAsked }).data ?? {};
  if (!clients || clients.pageInfo.hasNextPage) return undefined;
  if (clients.edges.some(({ node: { disabled, thirdParty } }) => !disabled && !thirdParty)) return undefined;
  return (
    <>
      {t('Needs an application in the project, to sign in to.')}{' '}
      <Link to={path('applications/new')}>{t('Create application')}</Link>
    </>
  );
}
