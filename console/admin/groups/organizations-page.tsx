import { lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import { withTexts } from '../language/language.ts';
import { organizationsTexts } from '../organizations/texts.ts';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';

/** The texts load before the modules. */
const parts = () => withTexts(organizationsTexts, () => import('../organizations/parts.ts'));

const OrganizationList = lazy(async () => ({ default: (await parts()).OrganizationList }));
const OrganizationRoles = lazy(async () => ({ default: (await parts()).OrganizationRoles }));
const OrganizationPage = lazy(async () => ({ default: (await parts()).OrganizationPage }));

/** The organizations of a project, their roles, or one organization. */
export function Component() {
  const { organizationId } = useParams();
  return (
    <Suspense fallback={<PageSkeleton />}>
      {organizationId === undefined ? (
        <OrganizationList />
      ) : organizationId === 'roles' ? (
        <OrganizationRoles />
      ) : (
        <OrganizationPage />
      )}
    </Suspense>
  );
}
