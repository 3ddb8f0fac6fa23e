import type { ReactNode } from 'react';
import { useQuery } from '../../api.ts';
import { ConnectionById } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { PageSkeleton } from '../../ui/feedback/skeleton.tsx';
import { InOrganization } from './in-organization.tsx';

/** Around the page of a connection, whose organization the account manages. */
export function AdministeredConnection({ id, children }: { id: string; children: ReactNode }) {
  const { data, failure, reload } = useQuery(ConnectionById, { id });
  if (!data)
    return failure ? <LoadError failure={failure} subject={t('connection')} retry={reload} /> : <PageSkeleton />;
  return <InOrganization id={data.connection.organization?.id}>{children}</InOrganization>;
}
