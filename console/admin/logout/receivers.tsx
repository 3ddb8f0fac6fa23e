import { Badge } from '@mantine/core';
import type { Failure } from '../failure.ts';
import type { LogoutReceiversQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { count } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Time } from '../ui/time.tsx';

export type Receiver = LogoutReceiversQuery['logoutReceivers'][number];

/** Delivery results per application over the last week. */
export function Receivers({
  receivers,
  failure,
  reload,
}: {
  receivers: readonly Receiver[] | undefined;
  failure: Failure | undefined;
  reload(): void;
}) {
  const path = useProjectPath();
  const columns: readonly Column<Receiver>[] = [
    { header: t('Application'), isName: true, width: '24%', cell: ({ client }) => client.name },
    { header: t('Status'), cell: (receiver) => <State receiver={receiver} /> },
    { header: t('Delivered'), align: 'end', cell: ({ delivered }) => count.format(delivered) },
    { header: t('Pending'), align: 'end', cell: ({ pending }) => count.format(pending) },
    { header: t('Failed'), align: 'end', cell: ({ failed }) => count.format(failed) },
    {
      header: t('Last delivered'),
      cell: ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} fallback={t('Not in 7 days')} />,
    },
  ];
  return (
    <Section flush title={t('Applications')} lead={t('Last 7 days. Set the logout URI under “Tokens & logout”.')}>
      {failure && !receivers ? (
        <LoadError failure={failure} subject={t('the list of applications')} retry={reload} />
      ) : (
        <DataTable
          label={t('Applications with back-channel logout')}
          columns={columns}
          rows={receivers}
          keyOf={({ client }) => client.id}
          linkOf={({ client }) => `${path('logout-deliveries')}?client=${client.id}`}
          skeletonRows={2}
          empty={
            <Empty
              icon="applications"
              title={t('No application uses back-channel logout')}
              action={<LinkButton to={path('applications')}>{t('Open the applications')}</LinkButton>}
            >
              {t('Without a logout URI, an application keeps its own session after logout.')}
            </Empty>
          }
        />
      )}
    </Section>
  );
}

function State({ receiver: { client, delivered, pending, failed } }: { receiver: Receiver }) {
  if (!client.backchannelLogoutUri) return <Badge>{t('Disabled')}</Badge>;
  if (failed > 0) return <Badge color="bad">{t('Some failed')}</Badge>;
  if (pending > 0) return <Badge color="note">{t('Pending')}</Badge>;
  return delivered > 0 ? <Badge color="good">{t('OK')}</Badge> : <Badge>{t('No logouts')}</Badge>;
}
