import { Badge } from '@mantine/core';
import { useState } from 'react';
import { AuditEvents, RevokeUserDevice, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Columns, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Device = UserAccessQuery['userAccess']['devices'][number];

const isTrusted = ({ trustedUntil }: Device) =>
  trustedUntil !== null && trustedUntil !== undefined && new Date(trustedUntil).getTime() > Date.now();

/** Registered browsers; a trusted one skips the second factor. */
export function UserDevices({ devices, mayChange }: { devices: readonly Device[] | undefined; mayChange: boolean }) {
  const [revoking, setRevoking] = useState<Device>();
  const columns: Columns<Device> = [
    { header: t('Device'), isName: true, width: '26%', cell: ({ name }) => name },
    { header: t('Application'), cell: ({ client }) => client.name },
    {
      header: t('Status'),
      cell: (device) =>
        isTrusted(device) ? <Badge color="good">{t('Trusted')}</Badge> : <Badge>{t('Needs a code')}</Badge>,
    },
    { header: t('Last used'), cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: t('Trusted until'), cell: ({ trustedUntil }) => <Time at={trustedUntil} fallback="–" /> },
    mayChange && actionColumn(t('Revoke'), ({ name }) => t('Revoke {name}', { name }), setRevoking),
  ];
  return (
    <Section flush title={t('Devices')} lead={t('Browsers with a device key. Revoke lost ones.')}>
      <DataTable
        label={t('Devices')}
        columns={columns}
        rows={devices}
        skeletonRows={1}
        empty={<Empty icon="phone" title={t('No device registered')} />}
      />
      <ConfirmMutation
        title={t('Revoke {name}?', { name: revoking?.name })}
        verb={t('Revoke device')}
        operation={RevokeUserDevice}
        variables={revoking && { id: revoking.id }}
        invalidates={[UserById, UserAccess, AuditEvents]}
        done={t('{name} revoked', { name: revoking?.name })}
        onClose={() => setRevoking(undefined)}
      >
        <p>{t('Its key is revoked at once, and its sessions end. It can be registered again with a code by mail.')}</p>
      </ConfirmMutation>
    </Section>
  );
}
