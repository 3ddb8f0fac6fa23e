import { Badge, Button } from '@mantine/core';
import { Link } from 'react-router';
import type { Failure } from '../failure.ts';
import type { LogoutReceiversQuery } from '../generated/operations.ts';
import { useProjectPath } from '../projects/project.tsx';
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
    { header: 'Application', isName: true, width: '24%', cell: ({ client }) => client.name },
    { header: 'Status', cell: (receiver) => <State receiver={receiver} /> },
    { header: 'Delivered', align: 'end', cell: ({ delivered }) => count.format(delivered) },
    { header: 'Pending', align: 'end', cell: ({ pending }) => count.format(pending) },
    { header: 'Failed', align: 'end', cell: ({ failed }) => count.format(failed) },
    { header: 'Last delivered', cell: ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} fallback="Not in 7 days" /> },
  ];
  return (
    <Section flush title="Applications" lead="Last 7 days. Set the logout URI under “Tokens & logout”.">
      {failure && !receivers ? (
        <LoadError failure={failure} subject="the list of applications" retry={reload} />
      ) : (
        <DataTable
          label="Applications with back-channel logout"
          columns={columns}
          rows={receivers}
          keyOf={({ client }) => client.id}
          linkOf={({ client }) => `${path('logout-deliveries')}?client=${client.id}`}
          skeletonRows={2}
          empty={
            <Empty
              icon="applications"
              title="No application uses back-channel logout"
              action={
                <Button component={Link} to={path('applications')} variant="default">
                  Open the applications
                </Button>
              }
            >
              Without a logout URI, an application keeps its own session after logout.
            </Empty>
          }
        />
      )}
    </Section>
  );
}

function State({ receiver: { client, delivered, pending, failed } }: { receiver: Receiver }) {
  if (!client.backchannelLogoutUri) return <Badge>Disabled</Badge>;
  if (failed > 0) return <Badge color="bad">Some failed</Badge>;
  if (pending > 0) return <Badge color="note">Pending</Badge>;
  return delivered > 0 ? <Badge color="good">OK</Badge> : <Badge>No logouts</Badge>;
}
