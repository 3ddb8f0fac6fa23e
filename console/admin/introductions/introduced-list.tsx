import { Badge, Button, Text } from '@mantine/core';
import { AuditEvents, BlockClient, IntroducedClients, type IntroducedRowFragment } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import type { Columns } from '../ui/lists/data-table.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { Time } from '../ui/time.tsx';
import { shownName } from './shown-name.ts';

const changed = [IntroducedClients, AuditEvents];

/** The introduced applications: how and from where each came, and its use. */
export function IntroducedList({ mayChange }: { mayChange: boolean }) {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const [dialog, { confirm }] = useDialog();
  const unblock = useAction(BlockClient, changed, t('Application unblocked'));
  const list = useList(
    IntroducedClients,
    (search, after) => ({ projectId, search, after }),
    ({ clients }) => clients,
  );
  const columns: Columns<IntroducedRowFragment> = [
    { header: t('Application'), isName: true, width: '26%', cell: (client) => <Name client={client} /> },
    {
      header: t('First seen'),
      cell: ({ createdAt, introducedBy, introduction }) => (
        <>
          <Time at={createdAt} />
          <Text size="xs" c="dimmed">
            {introducedBy === 'DOCUMENT' ? t('Metadata document') : t('Registration')}
            {introduction?.network && ` · ${introduction.network}`}
          </Text>
        </>
      ),
    },
    { header: t('Users'), cell: ({ introduction }) => introduction?.users },
    { header: t('Refresh grants'), cell: ({ introduction }) => introduction?.refreshGrants },
    { header: t('Last used'), cell: ({ introduction }) => <Time at={introduction?.lastUsedAt} /> },
    {
      header: t('Status'),
      cell: ({ disabled }) =>
        disabled ? <Badge color="bad">{t('Blocked')}</Badge> : <Badge color="good">{t('Allowed')}</Badge>,
    },
    mayChange && {
      header: '',
      align: 'end',
      isPlain: true,
      cell: (client) => {
        const { name } = shownName(client);
        return (
          <Button
            variant="subtle"
            color={client.disabled ? '' : 'red'}
            size="compact-sm"
            disabled={unblock.busy}
            aria-label={client.disabled ? t('Unblock {name}', { name }) : t('Block {name}', { name })}
            onClick={() => (client.disabled ? void unblock.run(change(client, false)) : confirm(blocking(client)))}
          >
            {client.disabled ? t('Unblock') : t('Block')}
          </Button>
        );
      },
    },
  ];
  return (
    <>
      <FormError failure={unblock.failure} />
      <ResourceList
        list={list}
        label={t('Introduced applications')}
        counted={(count) => t('{count, plural, one {# application} other {# applications}}', { count })}
        placeholder={t('Search by name')}
        columns={columns}
        linkOf={({ id }) => path(`applications/${id}`)}
        empty={
          <Empty icon="applications" title={t('No application has introduced itself')}>
            {t('Each that this project accepts appears here after its first request.')}
          </Empty>
        }
      />
      {dialog}
    </>
  );
}

/** The host, which is verified, large; the name that the application gave itself small. */
function Name({ client }: { client: IntroducedRowFragment }) {
  const { name, claim } = shownName(client);
  return (
    <>
      {name}
      {claim !== null && (
        <Text size="xs" c="dimmed">
          {t('Calls itself “{claim}”', { claim })}
        </Text>
      )}
    </>
  );
}

const change = ({ id, version }: IntroducedRowFragment, disabled: boolean) => ({
  input: { id, expectedVersion: version, disabled },
});

function blocking(client: IntroducedRowFragment): Confirmation {
  const { name } = shownName(client);
  return {
    title: t('Block {name}?', { name }),
    effect: (
      <>
        <p>
          {t(
            'Its sign-ins and refreshes are refused immediately, and its tokens end. An API that does not introspect tokens accepts them until they expire.',
          )}
        </p>
        {client.introducedBy === 'REGISTRATION' && (
          <p>{t('It can register again as a new application, which no user has allowed anything.')}</p>
        )}
      </>
    ),
    verb: t('Block'),
    request: request(BlockClient, change(client, true)),
    invalidates: changed,
    done: t('Application blocked'),
  };
}
