import { Alert } from '@mantine/core';
import { useQuery } from '../api.ts';
import { AdminTokens as AdminTokensQuery, Memberships } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page } from '../ui/layout/page.tsx';
import { AdminTokens } from './admin-tokens.tsx';
import { Members } from './members.tsx';

/** Owners of the instance and its admin API tokens. */
export function Component() {
  const { data, failure, reload } = useQuery(Memberships, { projectId: null });
  const tokens = useQuery(AdminTokensQuery, { projectId: null });
  const owners = data?.memberships;
  return (
    <Page title={t('Team & roles')} lead={t("Owners of this instance. Assign project roles on the project's page.")}>
      {owners?.length === 1 && (
        <Alert title={t('Only one owner')}>
          {t(
            "If they lose their mail address and their devices, only the server's command line gives access. Add a second one.",
          )}
        </Alert>
      )}
      {failure && !data ? (
        <LoadError failure={failure} subject={t('the team')} retry={reload} />
      ) : (
        <>
          <Members members={owners} mayChange />
          <AdminTokens tokens={tokens.data?.adminTokens} />
        </>
      )}
    </Page>
  );
}
