import { Badge, Button } from '@mantine/core';
import { Link } from 'react-router';
import { useQuery } from '../api.ts';
import {
  type MessageChannel,
  type MessageState,
  Messages,
  type MessagesQuery,
  type MessageTemplate,
} from '../generated/operations.ts';
import { type Project, useProjectPath } from '../projects/project.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { Filter, ListBar, Pager, SearchField, useListParams } from '../ui/lists/list-bar.tsx';
import { Time } from '../ui/time.tsx';
import { channels, states, templateNames } from './labels.ts';
import styles from './messages.module.css';

type Row = MessagesQuery['messages']['edges'][number]['node'];

const columns: Column<Row>[] = [
  { header: 'Message', isName: true, cell: ({ template }) => templateNames[template] },
  {
    header: 'To',
    width: '22%',
    cell: ({ recipient, channel }) => (
      <span className={styles.to}>
        <span>{recipient}</span> <small>{channel === 'SMS' ? 'SMS' : 'mail'}</small>
      </span>
    ),
  },
  {
    header: 'Status',
    width: '26%',
    cell: ({ state, note }) => (
      <span className={styles.state}>
        <Badge color={states[state].tone}>{states[state].name}</Badge>
        {note && <span className={styles.note}>{note}</span>}
      </span>
    ),
  },
  { header: 'Attempts', width: '5rem', align: 'end', cell: ({ attempts }) => attempts },
  { header: 'Requested', width: '8.5rem', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: 'Sent', width: '8.5rem', cell: ({ sentAt }) => <Time at={sentAt} fallback="–" /> },
];

const options = (any: string, names: Record<string, string>) => [
  { value: '', label: any },
  ...Object.entries(names).map(([value, label]) => ({ value, label })),
];

/** Delivery status of each message, updated live. */
export function DeliveryLog({ project }: { project: Project }) {
  const { get } = useListParams();
  const path = useProjectPath();
  const after = get('after');
  const asked = {
    channel: get('channel') as MessageChannel | undefined,
    state: get('state') as MessageState | undefined,
    template: get('template') as MessageTemplate | undefined,
    recipient: get('search'),
  };
  const variables = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name, value ?? null]));
  const { data, failure, stale, reload } = useQuery(
    Messages,
    { projectId: project.id, ...variables, after: after ?? null },
    { keep: true, ...(after ? {} : { everySeconds: 10 }) },
  );
  const isFiltered = Object.values(asked).some((value) => value !== undefined);
  const page = data?.messages;
  return (
    <>
      {failure && !page ? (
        <LoadError failure={failure} subject="messages" retry={reload} />
      ) : (
        <Section flush>
          <ListBar>
            <SearchField label="Search by recipient" placeholder="Full address or number" />
            <Filter name="state" label="Status" options={options('Any status', namesOf(states))} />
            <Filter name="template" label="Kind" options={options('Any kind', templateNames)} />
            <Filter name="channel" label="Channel" options={options('Mail and SMS', channels)} />
          </ListBar>
          <DataTable
            label="Messages"
            columns={columns}
            rows={page?.edges.map(({ node }) => node)}
            keyOf={({ id }) => id}
            stale={stale && !page}
            empty={
              isFiltered ? (
                <Empty icon="search" title="No matching messages">
                  Enter the full address or number; partial matches are not found.
                </Empty>
              ) : (
                <Empty
                  icon="mail"
                  title="No messages in the last 30 days"
                  action={
                    <Button component={Link} to={path('messages/sending')} variant="default">
                      Test sending
                    </Button>
                  }
                >
                  Codes and notices appear here within a second, without their content.
                </Empty>
              )
            }
          />
          <Pager pageInfo={page?.pageInfo} />
        </Section>
      )}
    </>
  );
}

function namesOf(of: Record<string, { name: string }>): Record<string, string> {
  return Object.fromEntries(Object.entries(of).map(([value, { name }]) => [value, name]));
}
