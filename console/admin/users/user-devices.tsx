import { Badge } from '@mantine/core';
import { useState } from 'react';
import { AuditEvents, RevokeUserDevice, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Section } from '../ui/layout/page.tsx';
import { actionColumn, type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Device = UserAccessQuery['userAccess']['devices'][number];

const isTrusted = ({ trustedUntil }: Device) =>
  trustedUntil !== null && trustedUntil !== undefined && new Date(trustedUntil).getTime() > Date.now();

/** Registered browsers; a trusted one skips the second factor. */
export function UserDevices({ devices, mayChange }: { devices: readonly Device[] | undefined; mayChange: boolean }) {
  const [revoking, setRevoking] = useState<Device>();
  const columns: Column<Device>[] = [
    { header: 'Device', isName: true, width: '26%', cell: ({ name }) => name },
    { header: 'Application', cell: ({ client }) => client.name },
    {
      header: 'Status',
      cell: (device) => (isTrusted(device) ? <Badge color="good">Trusted</Badge> : <Badge>Needs a code</Badge>),
    },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: 'Trusted until', cell: ({ trustedUntil }) => <Time at={trustedUntil} fallback="–" /> },
    ...(mayChange ? [actionColumn<Device>('Revoke', ({ name }) => `Revoke ${name}`, setRevoking)] : []),
  ];
  return (
    <Section flush title="Devices" lead="Browsers with a device key. Revoke lost ones.">
      <DataTable
        label="Devices"
        columns={columns}
        rows={devices}
        skeletonRows={1}
        empty={<Empty icon="phone" title="No device registered" />}
      />
      <ConfirmMutation
        title={`Revoke ${revoking?.name}?`}
        verb="Revoke device"
        operation={RevokeUserDevice}
        variables={revoking && { id: revoking.id }}
        invalidates={[UserById, UserAccess, AuditEvents]}
        done={`${revoking?.name} revoked`}
        onClose={() => setRevoking(undefined)}
      >
        <p>Its key is revoked at once, and its sessions end. It can be registered again with a code by mail.</p>
      </ConfirmMutation>
    </Section>
  );
}
