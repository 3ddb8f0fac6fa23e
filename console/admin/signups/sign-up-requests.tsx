import { Button, Group } from '@mantine/core';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import {
  ApproveSignUp,
  AuditEvents,
  DeclineSignUp,
  SignUpRequests,
  type SignUpRequestsQuery,
  Users,
  WaitingSignUps,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Columns, DataTable } from '../ui/lists/data-table.tsx';
import { Filter, ListBar, Pager, useListParams } from '../ui/lists/list-bar.tsx';
import { Time } from '../ui/time.tsx';

type Request = SignUpRequestsQuery['signUpRequests']['edges'][number]['node'];

const changed = [SignUpRequests, WaitingSignUps, Users, AuditEvents];

/** People who verified their address and wait for an admin. */
export function SignUpList() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const { get } = useListParams();
  const [isDeclined, after] = [get('state') === 'declined', get('after') ?? null];
  const variables = { projectId: project.id, state: isDeclined ? 'DECLINED' : 'PENDING', after } as const;
  const { data, failure, reload } = useQuery(SignUpRequests, variables, {
    keep: true,
    ...(after ? {} : { everySeconds: 15 }),
  });
  const page = data?.signUpRequests;
  const isEmpty = page?.edges.length === 0;
  const approve = useAction(ApproveSignUp, changed, ({ approveSignUp: { userName } }) =>
    t('{userName} can sign in', { userName }),
  );
  const decline = useAction(DeclineSignUp, changed, t('Request declined'));
  const isBusy = approve.busy || decline.busy;
  const columns: Columns<Request> = [
    { header: t('Address'), isName: true, width: '45%', cell: ({ address }) => address },
    { header: t('Requested'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: t('Ends'), cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    mayChange && {
      header: '',
      align: 'end',
      isPlain: true,
      cell: ({ id, address, state }) => (
        <Group gap={4} wrap="nowrap" display="inline-flex">
          <Button
            variant="light"
            size="compact-sm"
            disabled={isBusy}
            onClick={() => approve.run({ id })}
            aria-label={t('Approve {address}', { address })}
          >
            {t('Approve')}
          </Button>
          {state === 'PENDING' && (
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              disabled={isBusy}
              onClick={() => decline.run({ id })}
              aria-label={t('Decline {address}', { address })}
            >
              {t('Decline')}
            </Button>
          )}
        </Group>
      ),
    },
  ];
  return (
    <Page
      title={t('Sign-up requests')}
      lead={t('People who verified their address and wait for an admin')}
      actions={<LinkButton to={path('users')}>{t('Users')}</LinkButton>}
    >
      {!mayChange && <ViewerNotice project={project} />}
      <FormError failure={approve.failure ?? decline.failure} />
      <Section flush>
        <ListBar>
          <Filter name="state" label={t('State')} options={states} />
        </ListBar>
        {failure && !page ? (
          <LoadError failure={failure} subject={t('the list of requests')} retry={reload} />
        ) : isEmpty ? (
          <Empty icon="users" title={isDeclined ? t('No declined requests') : t('No open requests')}>
            {isDeclined
              ? t('A declined address can ask again once its request ends.')
              : t('With sign-up “With approval”, new people appear here once they have verified their address.')}
          </Empty>
        ) : (
          <DataTable
            label={t('Sign-up requests')}
            columns={columns}
            rows={page?.edges.map(({ node }) => node)}
            keyOf={({ id }) => id}
          />
        )}
        <Pager pageInfo={page?.pageInfo} />
      </Section>
    </Page>
  );
}

const states = [
  { value: '', label: t('Waiting') },
  { value: 'declined', label: t('Declined') },
];
