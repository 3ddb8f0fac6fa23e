import { Badge, Group, Text } from '@mantine/core';
import {
  type MessageChannel,
  type MessageState,
  Messages,
  type MessagesQuery,
  type MessageTemplate,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { type Project, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { Filter, filterOptions, useListParams } from '../ui/lists/list-bar.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { Time } from '../ui/time.tsx';
import { channels, states, templateNames } from './labels.ts';

type Row = MessagesQuery['messages']['edges'][number]['node'];

const columns: Column<Row>[] = [
  { header: t('Message'), isName: true, cell: ({ template }) => templateNames[template] },
  {
    header: t('To'),
    width: '22%',
    cell: ({ recipient, channel }) => (
      <Group component="span" gap="0 0.5rem" align="baseline">
        <span>{recipient}</span>{' '}
        <Text span fz="xs">
          {channels[channel]}
        </Text>
      </Group>
    ),
  },
  {
    header: t('Status'),
    width: '26%',
    cell: ({ state, note }) => (
      <Group component="span" gap="0.125rem 0.5rem">
        <Badge color={states[state].tone}>{states[state].name}</Badge>
        {note && (
          <Text span fz="xs">
            {note}
          </Text>
        )}
      </Group>
    ),
  },
  { header: t('Attempts'), width: '5rem', align: 'end', cell: ({ attempts }) => attempts },
  { header: t('Requested'), width: '8.5rem', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: t('Sent'), width: '8.5rem', cell: ({ sentAt }) => <Time at={sentAt} fallback="–" /> },
];

const stateNames = Object.fromEntries(Object.entries(states).map(([value, { name }]) => [value, name]));

/** Delivery status of each message, updated live. */
export function DeliveryLog({ project }: { project: Project }) {
  const { get } = useListParams();
  const path = useProjectPath();
  const filter = {
    channel: (get('channel') as MessageChannel | undefined) ?? null,
    state: (get('state') as MessageState | undefined) ?? null,
    template: (get('template') as MessageTemplate | undefined) ?? null,
  };
  const list = useList(
    Messages,
    (recipient, after) => ({ projectId: project.id, ...filter, recipient, after }),
    ({ messages }) => messages,
    { isFiltered: Object.values(filter).some(Boolean), everySeconds: 10 },
  );
  return (
    <ResourceList
      // Refetched every few seconds: not shown as stale.
      list={{ ...list, stale: false }}
      label={t('Messages')}
      searchLabel={t('Search by recipient')}
      placeholder={t('Full address or number')}
      filters={
        <>
          <Filter name="state" label={t('Status')} options={filterOptions(t('Any status'), stateNames)} />
          <Filter name="template" label={t('Kind')} options={filterOptions(t('Any kind'), templateNames)} />
          <Filter name="channel" label={t('Channel')} options={filterOptions(t('Mail and SMS'), channels)} />
        </>
      }
      columns={columns}
      noMatch={t('Enter the full address or number; partial matches are not found.')}
      empty={
        <Empty
          icon="mail"
          title={t('No messages in the last 30 days')}
          action={<LinkButton to={path('messages/sending')}>{t('Test sending')}</LinkButton>}
        >
          {t('Codes and notices appear here within a second, without their content.')}
        </Empty>
      }
    />
  );
}
