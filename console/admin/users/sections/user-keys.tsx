import { useQuery } from '../../api.ts';
import {
  type UserKeysQuery as Answer,
  AuditEvents,
  RevokeUserKey,
  UserKeys as UserKeysQuery,
} from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { request } from '../../ui/code/show-graphql.tsx';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { useDialog } from '../../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../../ui/lists/data-table.tsx';
import { TableSection } from '../../ui/lists/table-section.tsx';
import { Time } from '../../ui/time.tsx';

type Key = Answer['userKeys'][number];

/** The API keys of a user; nothing without any. */
export function UserKeys({ userId, mayChange }: { userId: string; mayChange: boolean }) {
  const [dialog, { confirm }] = useDialog();
  const { data, failure, reload } = useQuery(UserKeysQuery, { userId });
  if (failure && !data) return <LoadError failure={failure} subject={t('the API keys')} retry={reload} />;
  if (!data?.userKeys.length) return null;
  const end = ({ id, name }: Key) =>
    confirm({
      title: t('Revoke {name}?', { name }),
      effect: <p>{t('The API refuses the key at its next introspection. This cannot be undone.')}</p>,
      verb: t('Revoke'),
      request: request(RevokeUserKey, { id }),
      invalidates: [UserKeysQuery, AuditEvents],
      done: t('API key revoked'),
    });
  const columns: Columns<Key> = [
    { header: t('Name'), isName: true, width: '24%', cell: ({ name, hint }) => `${name} (…${hint})` },
    { header: t('API'), cell: ({ api }) => api.name },
    { header: t('Scopes'), cell: ({ scopes }) => scopes.join(' ') },
    { header: t('Last used'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: t('Expires'), cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    mayChange && actionColumn(t('Revoke'), ({ name }) => t('Revoke {name}', { name }), end),
  ];
  return (
    <TableSection
      title={t('API keys')}
      lead={t('Made by the user for scripts.')}
      columns={columns}
      rows={data.userKeys}
    >
      {dialog}
    </TableSection>
  );
}
