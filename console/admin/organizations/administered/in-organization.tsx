import type { ReactNode } from 'react';
import { useMe } from '../../access.tsx';
import { part, usePrefetch, useQuery } from '../../api.ts';
import { Missing } from '../../frame/missing.tsx';
import { AdministeredOrganization, OrganizationById, ProjectOutline } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { OutlineContext } from '../../projects/project.tsx';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { PageSkeleton } from '../../ui/feedback/skeleton.tsx';

/** The outline of the organization's project, around a page. @param id of the organization; not found unless the account is one of its admins */
export function InOrganization({ id, children }: { id: string | undefined; children: ReactNode }) {
  const ids = (given: readonly (string | undefined)[] | null) => given ?? [];
  const grant = useMe().grants.find(({ organizationIds }) => ids(organizationIds).includes(id));
  if (id === undefined || !grant?.projectId) return <Missing />;
  return (
    <WithOutline projectId={grant.projectId} organizationId={id}>
      {children}
    </WithOutline>
  );
}

interface WithOutlineProps {
  projectId: string;
  organizationId: string;
  children: ReactNode;
}

function WithOutline({ projectId, organizationId, children }: WithOutlineProps) {
  usePrefetch(AdministeredOrganization, { projectId, organizationId, inProject: false }, [
    part(ProjectOutline, { id: projectId }),
    part(OrganizationById, { id: organizationId, inProject: false }),
  ]);
  const { data, failure, reload } = useQuery(ProjectOutline, { id: projectId });
  const project = data?.project;
  if (!project)
    return failure ? <LoadError failure={failure} subject={t('organization')} retry={reload} /> : <PageSkeleton />;
  return <OutlineContext value={project}>{children}</OutlineContext>;
}
