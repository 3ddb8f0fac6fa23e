import { useQuery } from '../../api.ts';
import { AdministeredOrganizations } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';
import { columns } from '../organization-list.tsx';

/** The organizations whose admin the account is, at most 50 of each project. */
export function AdministeredList() {
  const { data, failure, reload } = useQuery(AdministeredOrganizations, {});
  const all = data?.administeredOrganizations;
  if (failure && !all) return <LoadError failure={failure} subject={t('the list of organizations')} retry={reload} />;
  return (
    <Page title={t('Organizations')} lead={t('Organizations that you manage')}>
      <TableSection
        label={t('Organizations')}
        columns={columns}
        rows={all}
        linkOf={({ id }) => `/organizations/${id}`}
        skeletonRows={3}
        empty={
          <Empty icon="building" title={t('No organizations')}>
            {t('The organizations of your role were deleted.')}
          </Empty>
        }
      />
    </Page>
  );
}
