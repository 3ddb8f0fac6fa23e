import { AuditEvents, RevokeUserPasskey, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Passkey = UserAccessQuery['userAccess']['passkeys'][number];

interface UserPasskeysProps {
  passkeys: readonly Passkey[] | undefined;
  /** Whether the project uses passkeys. */
  isOn: boolean;
  mayChange: boolean;
}

/** `aaguid` is only a claim unless a root certificate of the project proved it. */
function modelOf(aaguid: string, attested: boolean) {
  if (/^[0-]+$/.test(aaguid)) return t('Unknown');
  return <span title={aaguid}>{attested ? t('Proved') : t('Claimed')}</span>;
}

/** Passkeys of a user, for all applications. */
export function UserPasskeys({ passkeys, isOn, mayChange }: UserPasskeysProps) {
  const [dialog, { confirm }] = useDialog();
  const revoke = ({ id, name }: Passkey) =>
    confirm({
      title: t('Revoke {name}?', { name }),
      effect: (
        <p>
          {t(
            'It can no longer sign in, and its sessions end immediately. The user can sign in with a code by mail; if a second factor is required and none is left, that sign-in enrolls one.',
          )}
        </p>
      ),
      verb: t('Revoke passkey'),
      request: request(RevokeUserPasskey, { id }),
      invalidates: [UserById, UserAccess, AuditEvents],
      done: t('{name} revoked', { name }),
    });
  const columns: Columns<Passkey> = [
    { header: t('Passkey'), isName: true, width: '26%', cell: ({ name }) => name },
    { header: t('Storage'), cell: ({ synced }) => (synced ? t('Synced') : t('One device')) },
    { header: t('Model'), cell: ({ aaguid, attested }) => modelOf(aaguid, attested) },
    {
      header: t('User verification'),
      cell: ({ userVerified }) => (userVerified ? t('PIN or biometrics') : t('None yet')),
    },
    { header: t('Added'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: t('Last used'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    mayChange && actionColumn(t('Revoke'), ({ name }) => t('Revoke {name}', { name }), revoke),
  ];
  const off = t('Passkeys are off in this project: these cannot sign in.');
  return (
    <TableSection
      title={t('Passkeys')}
      lead={isOn || !passkeys?.length ? t('For all applications. Revoke lost ones.') : off}
      columns={columns}
      rows={passkeys}
      skeletonRows={1}
      empty={
        <Empty icon="key" title={t('No passkeys')}>
          {isOn
            ? t('Users add passkeys after sign-in or on their account page.')
            : t('Passkeys are off in this project.')}
        </Empty>
      }
    >
      {dialog}
    </TableSection>
  );
}
