import { Badge, Button } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../api.ts';
import { AuditEvents, RevokeUserDevice, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

type Device = UserAccessQuery['userAccess']['devices'][number];

const isTrusted = ({ trustedUntil }: Device) =>
  trustedUntil !== null && trustedUntil !== undefined && new Date(trustedUntil).getTime() > Date.now();

/** Registered browsers; a trusted one skips the second factor. */
export function UserDevices({ devices, mayChange }: { devices: readonly Device[] | undefined; mayChange: boolean }) {
  const [revoking, setRevoking] = useState<Device>();
  const [revoke, busy, failure, reset] = useMutation(RevokeUserDevice, [UserById, UserAccess, AuditEvents]);
  const columns: Column<Device>[] = [
    { header: 'Device', isName: true, width: '26%', cell: ({ name }) => name },
    { header: 'Application', cell: ({ client }) => client.name },
    {
      header: 'Status',
      cell: (device) => (isTrusted(device) ? <Badge color="good">Trusted</Badge> : <Badge>Needs a code</Badge>),
    },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { header: 'Trusted until', cell: ({ trustedUntil }) => <Time at={trustedUntil} fallback="–" /> },
  ];
  if (mayChange) {
    columns.push({
      header: '',
      align: 'end',
      cell: (device) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={() => setRevoking(device)}
          aria-label={`Revoke ${device.name}`}
        >
          Revoke
        </Button>
      ),
    });
  }
  const close = () => {
    setRevoking(undefined);
    reset();
  };
  return (
    <Section flush title="Devices" lead="Browsers with a device key. Revoke lost ones.">
      <DataTable
        label="Devices"
        columns={columns}
        rows={devices}
        keyOf={({ id }) => id}
        skeletonRows={1}
        empty={<Empty icon="phone" title="No device registered" />}
      />
      <Confirm
        opened={revoking !== undefined}
        title={`Revoke ${revoking?.name ?? ''}?`}
        verb="Revoke device"
        busy={busy}
        failure={failure}
        graphql={revoking && request(RevokeUserDevice, { id: revoking.id })}
        onClose={close}
        onConfirm={async () => {
          if (!revoking) return;
          const outcome = await revoke({ id: revoking.id });
          if (!outcome.data) return;
          toast(`${revoking.name} revoked`);
          close();
        }}
      >
        <p>Its key is revoked at once, and its sessions end. It can be registered again with a code by mail.</p>
      </Confirm>
    </Section>
  );
}
