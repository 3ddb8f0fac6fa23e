import { Badge } from '@mantine/core';
import { AuditEvents, RevokeUserDevice, UserAccess, type UserAccessQuery, UserById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { actionColumn, type Columns } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';

type Device = UserAccessQuery['userAccess']['devices'][number];

const isTrusted = ({ trustedUntil }: Device) =>
  trustedUntil !== null && trustedUntil !== undefined && new Date(trustedUntil).getTime() > Date.now();

/** Registered browsers; a trusted one skips the second factor. */
export function UserDevices({
  devices,
  count,
  mayChange,
}: {
  devices: readonly Device[] | undefined;
  count: number | undefined;
  mayChange: boolean;
}) {
  const [dialog, { confirm }] = useDialog();
  const revoke = ({ id, name }: Device) =>
    confirm({
      title: t('Revoke {name}?', { name }),
      effect: (
        <p>
          {t('Its key is revoked immediately, and its sessions end. It can be registered again with a code by mail.')}
        </p>
      ),
      verb: t('Revoke device'),
      request: request(RevokeUserDevice, { id }),
      invalidates: [UserById, UserAccess, AuditEvents],
      done: t('{name} revoked', { name }),
    });
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
    mayChange && actionColumn(t('Revoke'), ({ name }) => t('Revoke {name}', { name }), revoke),
  ];
  return (
    <TableSection
      title={t('Devices')}
      lead={
        devices && count !== undefined && count > devices.length
          ? t('The {shown} most recent of {count}.', { shown: devices.length, count })
          : t('Browsers with a device key. Revoke lost ones.')
      }
      columns={columns}
      rows={devices}
      skeletonRows={1}
      empty={<Empty icon="phone" title={t('No devices registered')} />}
    >
      {dialog}
    </TableSection>
  );
}
