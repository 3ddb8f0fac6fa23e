import { useState } from 'react';
import { AuditEvents, RevokeUserPasskey, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Columns, DataTable } from '../ui/lists/data-table.tsx';
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
  const [revoking, setRevoking] = useState<Passkey>();
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
    mayChange && actionColumn(t('Revoke'), ({ name }) => t('Revoke {name}', { name }), setRevoking),
  ];
  const off = t('Passkeys are off in this project: these cannot sign in.');
  return (
    <Section
      flush
      title={t('Passkeys')}
      lead={isOn || !passkeys?.length ? t('For all applications. Revoke lost ones.') : off}
    >
      <DataTable
        label={t('Passkeys')}
        columns={columns}
        rows={passkeys}
        skeletonRows={1}
        empty={
          <Empty icon="key" title={t('No passkey')}>
            {isOn
              ? t('Users add passkeys after sign-in or on their account page.')
              : t('Passkeys are off in this project.')}
          </Empty>
        }
      />
      <ConfirmMutation
        title={t('Revoke {name}?', { name: revoking?.name })}
        verb={t('Revoke passkey')}
        operation={RevokeUserPasskey}
        variables={revoking && { id: revoking.id }}
        invalidates={[UserById, UserAccess, AuditEvents]}
        done={t('{name} revoked', { name: revoking?.name })}
        onClose={() => setRevoking(undefined)}
      >
        <p>
          {t(
            'It can no longer sign in, and its sessions end at once. The user can sign in with a code by mail; if a second factor is required and none is left, that sign-in enrolls one.',
          )}
        </p>
      </ConfirmMutation>
    </Section>
  );
}
