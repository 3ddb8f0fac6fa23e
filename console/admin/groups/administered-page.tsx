import { lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import { connectionsTexts } from '../connections/texts.ts';
import { withTexts } from '../language/language.ts';
import { organizationsTexts } from '../organizations/texts.ts';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';

/** The texts load before the modules. */
const parts = () => withTexts(organizationsTexts, () => import('../organizations/parts.ts'));
const own = () => withTexts(organizationsTexts, () => import('../organizations/administered/in-organization.tsx'));
const ofConnection = () =>
  withTexts(organizationsTexts, () => import('../organizations/administered/administered-connection.tsx'));
const connections = () => withTexts(connectionsTexts, () => import('../connections/parts.ts'));

const AdministeredList = lazy(async () => ({ default: (await parts()).AdministeredList }));
const OrganizationPage = lazy(async () => ({ default: (await parts()).OrganizationPage }));
const InOrganization = lazy(async () => ({ default: (await own()).InOrganization }));
const AdministeredConnection = lazy(async () => ({ default: (await ofConnection()).AdministeredConnection }));
const ConnectionPage = lazy(async () => ({ default: (await connections()).ConnectionPage }));

/**
 * The pages of an admin of organizations (decisions/0412): the list of them, one, or a connection of one. They are those of the
 * project, without the rest of the project.
 */
export function Component() {
  const { organizationId, connectionId } = useParams();
  return (
    <Suspense fallback={<PageSkeleton />}>
      {connectionId !== undefined ? (
        <AdministeredConnection id={connectionId}>
          <ConnectionPage />
        </AdministeredConnection>
      ) : organizationId === undefined ? (
        <AdministeredList />
      ) : (
        <InOrganization id={organizationId}>
          <OrganizationPage />
        </InOrganization>
      )}
    </Suspense>
  );
}
