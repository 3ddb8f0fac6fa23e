import { Badge, Button, type ButtonProps } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { part, usePrefetch, useQuery } from '../api.ts';
import { Activity } from '../audit/activity.tsx';
import { type AuditEvent, actorName } from '../audit/event-text.ts';
import {
  AuditEvents,
  GroupById,
  type GroupByIdQuery,
  GroupPage,
  GroupRoles as GroupRolesOf,
  type UserListFragment,
  Users,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { IdChip } from '../ui/code/copy.tsx';
import { atLeast } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { actionColumn } from '../ui/lists/data-table.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { useListParams } from '../ui/lists/list-bar.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { exactly, Time } from '../ui/time.tsx';
import { userColumns } from '../users/user-columns.tsx';
import { GroupRoles } from './group-roles.tsx';
import { leaving } from './leaving.tsx';

const AddMember = lazy(async () => ({ default: (await import('./add-member.tsx')).AddMember }));
const GroupActions = lazy(async () => ({ default: (await import('./group-actions.tsx')).GroupActions }));

const shown = ['name', 'userName', 'state', 'lastSignIn'] as const;

/** One group: members, source and activity. */
export function Component() {
  const { groupId = '' } = useParams();
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(projectId);
  const { get } = useListParams();
  const [search, after] = [get('search') ?? null, get('after') ?? null];
  const eventsOfGroup = { projectId, filter: { subjectId: groupId }, first: 10, after: null };
  usePrefetch(GroupPage, { projectId, groupId, search, after }, [
    part(GroupById, { id: groupId }),
    part(Users, { ...membersOf(projectId, groupId), search, after }),
    part(AuditEvents, eventsOfGroup),
    part(GroupRolesOf, { groupId }),
  ]);
  const { data, failure, reload } = useQuery(GroupById, { id: groupId });
  const events = useQuery(AuditEvents, eventsOfGroup);
  const group = data?.group?.id === groupId ? data.group : undefined;
  if (!group) return failure ? <LoadError failure={failure} subject={t('group')} retry={reload} /> : <PageSkeleton />;
  const list = events.data?.auditEvents.edges.map(({ node }) => node);
  const isLocal = group.provenance === 'LOCAL';
  const mayEdit = isLocal && mayChange;
  return (
    <Page
      title={group.displayName}
      back={{ to: path('groups'), label: t('Groups') }}
      badges={
        <>
          {!isLocal && <Badge color="accent">{t('From the directory')}</Badge>}
          <IdChip id={group.id} label={t('group ID')} />
        </>
      }
      actions={
        mayEdit && (
          <Suspense>
            <GroupActions group={group} />
          </Suspense>
        )
      }
    >
      <Source group={group} made={list?.find(({ type }) => type === 'group.created')} />
      <Members key={group.id} group={group} mayEdit={mayEdit} />
      <GroupRoles groupId={group.id} />
      <Activity events={list} query={{ subject: group.id, subjectName: group.displayName }} />
    </Page>
  );
}

const membersOf = (projectId: string, groupId: string) =>
  ({ projectId, filter: { groupId }, orderBy: 'NAME', direction: 'ASC' }) as const;

/**
 * The source of the group. @param made the event of its creation, absent while it loads or if it is older than those
 * shown
 */
function Source({ group, made }: { group: Group; made: AuditEvent | undefined }) {
  const isLocal = group.provenance === 'LOCAL';
  return (
    <Section
      title={t('Source')}
      lead={isLocal ? t('No directory owns this group.') : t('Name and members are managed by the directory.')}
    >
      <Facts
        facts={[
          isLocal
            ? [t('Created by'), made ? actorName(made) : t('an admin')]
            : [t('Pushed by'), made?.actor.name ?? t('A directory')],
          !isLocal && [t('External ID'), group.externalId ?? '–'],
          [t('Members'), atLeast(group.memberCount, group.isMemberCountLimited)],
          [t('Created'), exactly(group.createdAt)],
          [t('Changed'), <Time key="changed" at={group.updatedAt} />],
        ]}
      />
    </Section>
  );
}

function Members({ group, mayEdit }: { group: Group; mayEdit: boolean }) {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const [dialog, { open, confirm }] = useDialog();
  const list = useList(
    Users,
    (search, after) => ({ ...membersOf(projectId, group.id), search, after }),
    ({ users }) => users,
  );
  const add = (props: ButtonProps) =>
    mayEdit && (
      <Button
        {...props}
        onClick={() => open(t('Add member'), (close) => <AddMember groupId={group.id} onClose={close} />)}
      >
        {t('Add member')}
      </Button>
    );
  const remove = (user: MemberRow) => confirm(leaving({ id: user.id, name: nameOf(user) }, group));
  const { page } = list;
  return (
    <>
      <ResourceList
        title={t('Members')}
        list={list}
        label={t('Members')}
        placeholder={t('Name, email, user name or external ID')}
        total={
          page &&
          t('{done} of {total}', {
            done: atLeast(page.totalCount ?? 0, page.isTotalLimited ?? false),
            total: atLeast(group.memberCount, group.isMemberCountLimited),
          })
        }
        columns={[
          ...shown.map((name) => userColumns[name]),
          mayEdit && actionColumn<MemberRow>(t('Remove'), (user) => t('Remove {name}', { name: nameOf(user) }), remove),
        ]}
        linkOf={({ id }) => path(`users/${id}`)}
        noMatch={t('Search matches parts of names, email addresses, user names and external IDs.')}
        empty={
          <Empty icon="users" title={t('No members')} action={add({})}>
            {group.provenance === 'LOCAL'
              ? t('Members get the roles of the group.')
              : t('The directory manages members.')}
          </Empty>
        }
        filters={add({ variant: 'default', ml: 'auto' })}
      />
      {dialog}
    </>
  );
}

type Group = NonNullable<GroupByIdQuery['group']>;
type MemberRow = UserListFragment['edges'][number]['node'];

const nameOf = ({ displayName, userName }: MemberRow) => displayName ?? userName;
