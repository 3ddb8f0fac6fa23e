import { Badge, Button } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { useQuery } from '../api.ts';
import { EventList } from '../audit/event-list.tsx';
import { actorName } from '../audit/sentences.ts';
import { AuditEvents, GroupById, Users } from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { DataTable } from '../ui/lists/data-table.tsx';
import { ListBar, Pager, SearchField, useListParams } from '../ui/lists/list-bar.tsx';
import { exactly, Time } from '../ui/time.tsx';
import { userColumns } from '../users/user-columns.tsx';
import styles from '../users/user-page.module.css';

const count = new Intl.NumberFormat('en-GB');
const shown = ['name', 'userName', 'state', 'lastSignIn'] as const;

/** One group: members, source and activity. */
export function Component() {
  const { groupId = '' } = useParams();
  const project = useProject();
  const path = useProjectPath();
  const { get } = useListParams();
  const search = get('search');
  const { data, failure, reload } = useQuery(GroupById, { id: groupId });
  const members = useQuery(
    Users,
    {
      projectId: project.id,
      search: search ?? null,
      filter: { groupId },
      orderBy: 'NAME',
      direction: 'ASC',
      after: get('after') ?? null,
    },
    { keep: true },
  );
  const events = useQuery(AuditEvents, {
    projectId: project.id,
    filter: { subjectId: groupId },
    first: 10,
    after: null,
  });
  const group = data?.group?.id === groupId ? data.group : undefined;
  if (!group) return failure ? <LoadError failure={failure} subject="group" retry={reload} /> : <PageSkeleton />;
  const list = events.data?.auditEvents.edges.map(({ node }) => node);
  const made = list?.find(({ type }) => type === 'group.created');
  const page = members.data?.users;
  return (
    <Page
      title={group.displayName}
      back={{ to: path('groups'), label: 'Groups' }}
      badges={
        <>
          <Badge color="accent">From the directory</Badge>
          <IdChip id={group.id} label="group ID" />
        </>
      }
    >
      <Section title="Source" lead="Name and members are managed by the directory.">
        <dl className={styles.profile}>
          <div>
            <dt>Pushed by</dt>
            <dd>{made ? actorName(made) : 'A directory'}</dd>
          </div>
          <div>
            <dt>External ID</dt>
            <dd>{group.externalId ?? '–'}</dd>
          </div>
          <div>
            <dt>Members</dt>
            <dd>{count.format(group.memberCount)}</dd>
          </div>
          <div>
            <dt>Created</dt>
            <dd>{exactly(group.createdAt)}</dd>
          </div>
          <div>
            <dt>Changed</dt>
            <dd>
              <Time at={group.updatedAt} />
            </dd>
          </div>
        </dl>
      </Section>
      <Section flush title="Members">
        {members.failure && !page ? (
          <LoadError failure={members.failure} subject="the list of members" retry={members.reload} />
        ) : (
          <>
            {group.memberCount > 0 && (
              <ListBar count={page && `${count.format(page.totalCount)} of ${count.format(group.memberCount)}`}>
                <SearchField label="Search members" placeholder="Name, e-mail, user name or external ID" />
              </ListBar>
            )}
            <DataTable
              label="Members"
              columns={shown.map((name) => userColumns[name])}
              rows={page?.edges.map(({ node }) => node)}
              keyOf={({ id }) => id}
              linkOf={({ id }) => path(`users/${id}`)}
              stale={members.stale}
              empty={
                search ? (
                  <Empty icon="search" title="No matching members">
                    Search matches the start of names, e-mail addresses, user names and external IDs.
                  </Empty>
                ) : (
                  <Empty icon="users" title="No members">
                    The directory manages members.
                  </Empty>
                )
              }
            />
            <Pager pageInfo={page?.pageInfo} />
          </>
        )}
      </Section>
      <Section
        flush
        title="Activity"
        actions={
          <Button
            component={Link}
            to={`${path('events')}?${new URLSearchParams({ subject: group.id, subjectName: group.displayName })}`}
            variant="default"
            size="xs"
          >
            All events
          </Button>
        }
      >
        {list?.length === 0 ? (
          <Empty icon="events" title="Nothing yet" />
        ) : (
          <EventList events={list} skeletonRows={3} />
        )}
      </Section>
    </Page>
  );
}
