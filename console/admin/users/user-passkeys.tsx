import { useState } from 'react';
import { AuditEvents, RevokeUserPasskey, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';
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
  if (/^[0-]+$/.test(aaguid)) return 'Unknown';
  return <span title={aaguid}>{attested ? 'Proved' : 'Claimed'}</span>;
}

/** Passkeys of a user, for all applications. */
export function UserPasskeys({ passkeys, isOn, mayChange }: UserPasskeysProps) {
  const [revoking, setRevoking] = useState<Passkey>();
  const columns: Column<Passkey>[] = [
    { header: 'Passkey', isName: true, width: '26%', cell: ({ name }) => name },
    { header: 'Storage', cell: ({ synced }) => (synced ? 'Synced' : 'One device') },
    { header: 'Model', cell: ({ aaguid, attested }) => modelOf(aaguid, attested) },
    { header: 'User verification', cell: ({ userVerified }) => (userVerified ? 'PIN or biometrics' : 'None yet') },
    { header: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    ...(mayChange ? [actionColumn<Passkey>('Revoke', ({ name }) => `Revoke ${name}`, setRevoking)] : []),
  ];
  const off = 'Passkeys are off in this project: these cannot sign in.';
  return (
    <Section flush title="Passkeys" lead={isOn || !passkeys?.length ? 'For all applications. Revoke lost ones.' : off}>
      <DataTable
        label="Passkeys"
        columns={columns}
        rows={passkeys}
        skeletonRows={1}
        empty={
          <Empty icon="key" title="No passkey">
            {isOn ? 'Users add passkeys after sign-in or on their account page.' : 'Passkeys are off in this project.'}
          </Empty>
        }
      />
      <ConfirmMutation
        title={`Revoke ${revoking?.name}?`}
        verb="Revoke passkey"
        operation={RevokeUserPasskey}
        variables={revoking && { id: revoking.id }}
        invalidates={[UserById, UserAccess, AuditEvents]}
        done={`${revoking?.name} revoked`}
        onClose={() => setRevoking(undefined)}
      >
        <p>
          It can no longer sign in, and its sessions end at once. The user can sign in with a code by mail; if a second
          factor is required and none is left, that sign-in enrolls one.
        </p>
      </ConfirmMutation>
    </Section>
  );
}
