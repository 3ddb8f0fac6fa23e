import { Menu } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useAccess } from '../access.tsx';
import {
  type UserAction,
  type UserFilter,
  type UserOrder,
  type UserRowFragment,
  Users,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { AddButton, LinkButton, SecondaryButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LazyDialog } from '../ui/feedback/lazy-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/layout/menu-button.tsx';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { Filters } from '../ui/lists/filters.tsx';
import { useListParams } from '../ui/lists/list-bar.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { bulkPage } from './bulk/bulk-run.ts';
import { ChangeUsersDialog } from './change-users.tsx';
import { type Selection, SelectionBar, selectColumn, type UserList, useSelection } from './selection.tsx';
import { choosable, chosenColumns, keepColumns, type UserColumn, userColumns } from './user-columns.tsx';
import { filterNames, filterOf, nextSorting, type Sorting, sortingOf, userFilters } from './user-filters.ts';

const AddUser = lazy(async () => ({ default: (await import('./add/add-user.tsx')).AddUser }));
const BulkUsers = lazy(async () => ({ default: (await import('./bulk/bulk-users.tsx')).BulkUsers }));
const ExportUsers = lazy(async () => ({ default: (await import('./export-users.tsx')).ExportUsers }));

const WaitingSignUps = lazy(async () => ({
  default: (await import('./waiting-sign-ups.tsx')).WaitingSignUpsNotice,
}));

/** Sort order per column. */
const orderOf: Partial<Record<UserColumn, UserOrder>> = {
  name: 'NAME',
  userName: 'USER_NAME',
  email: 'EMAIL',
  lastSignIn: 'LAST_SIGN_IN',
  created: 'CREATED',
};

/** Users of the project; search, filters and paging run on the server. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { get, set } = useListParams();
  const { mayChange } = useAccess(project.id);
  const [action, setAction] = useState<UserAction>();
  const [dialog, setDialog] = useState<'export' | 'add'>();
  const [shown, setShown] = useState(chosenColumns);
  const filter = filterOf(get);
  const sorting = sortingOf(get('sort'));
  const { orderBy, direction } = sorting;
  const list = useList(
    Users,
    (search, after) => ({ projectId: project.id, search, filter, orderBy, direction, after }),
    ({ users }) => users,
    { isFiltered: filterNames.some((name) => get(name) !== undefined) },
  );
  const selection = useSelection(list, filter, get);
  const columns = columnsOf(shown, sorting, (sort) => set({ sort }));
  return (
    <Page
      title={t('Users')}
      lead={t('All accounts in {name}', { name: project.name })}
      actions={mayChange && <PageActions {...{ list, filter, dialog, setDialog }} />}
    >
      {project.signUp === 'APPROVAL' && (
        <Suspense>
          <WaitingSignUps projectId={project.id} />
        </Suspense>
      )}
      <ResourceList
        list={list}
        label={t('Users')}
        counted={(count) => t('{count, plural, one {# user} other {# users}}', { count })}
        placeholder={t('Name, email, user name or external ID')}
        filters={
          <>
            <Filters filters={userFilters} />
            <ColumnMenu shown={shown} onShow={setShown} />
          </>
        }
        columns={mayChange ? [selectColumn(selection, list.rows), ...columns] : columns}
        linkOf={({ id }) => path(`users/${id}`)}
        skeletonRows={10}
        empty={<NoUsers {...(mayChange && { onAdd: () => setDialog('add') })} />}
        noMatch={t(
          'Search matches parts of names, email addresses, user names and external IDs, and all words must match. One or two letters match where a word begins.',
        )}
        onClear={() => set(Object.fromEntries(['search', ...filterNames].map((name) => [name, undefined])))}
      >
        <SelectionBar selection={selection} list={list} onAction={setAction} />
      </ResourceList>
      <ActionDialog selection={selection} action={action} onClose={() => setAction(undefined)} />
    </Page>
  );
}

interface PageActionsProps {
  list: UserList;
  filter: UserFilter;
  /** The open dialog. */
  dialog: 'export' | 'add' | undefined;
  setDialog(dialog: 'export' | 'add' | undefined): void;
}

/** Exports, imports or adds users. */
function PageActions({ list, filter, dialog, setDialog }: PageActionsProps) {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const onClose = () => setDialog(undefined);
  const { page, isEmpty, search } = list;
  return (
    <>
      {!isEmpty && (
        <SecondaryButton
          leftSection={<Icon name="download" size={16} />}
          disabled={!page}
          onClick={() => setDialog('export')}
        >
          {t('Export')}
        </SecondaryButton>
      )}
      <LinkButton to={path('users/import')}>{t('Import')}</LinkButton>
      <AddButton onClick={() => setDialog('add')}>{t('Add user')}</AddButton>
      {dialog && (
        <LazyDialog>
          {dialog === 'add' ? (
            <AddUser onClose={onClose} />
          ) : (
            <ExportUsers
              {...{ onClose, projectId, search, filter }}
              total={page?.isTotalLimited ? undefined : (page?.totalCount ?? 0)}
            />
          )}
        </LazyDialog>
      )}
    </>
  );
}

function columnsOf(
  shown: readonly UserColumn[],
  sorting: Sorting,
  onSort: (sort: string | undefined) => void,
): Column<UserRowFragment>[] {
  return (['name', ...shown] as const).map((name) => {
    const by = orderOf[name];
    if (!by) return userColumns[name];
    const way = sorting.direction === 'ASC' ? 'ascending' : 'descending';
    const direction = by === sorting.orderBy ? way : undefined;
    return { ...userColumns[name], sort: { direction, onSort: () => onSort(nextSorting(by, sorting)) } };
  });
}

function NoUsers({ onAdd }: { onAdd?(): void }) {
  const { signUp } = useProject();
  const path = useProjectPath();
  return (
    <Empty
      icon="users"
      title={t('No users yet')}
      action={
        <>
          {onAdd && <AddButton onClick={onAdd}>{t('Add user')}</AddButton>}
          <LinkButton to={path('directory')}>{t('Connect a directory')}</LinkButton>
        </>
      }
    >
      {signUp !== 'PROVISIONED_ONLY'
        ? t('Users appear at first sign-in, when a directory creates them, or when you add them.')
        : t('A directory creates users, or you add them.')}
    </Empty>
  );
}

interface ActionDialogProps {
  selection: Selection;
  action: UserAction | undefined;
  onClose(): void;
}

/** Confirms the action on the selected users; on many, with progress. */
function ActionDialog({ selection: { users, all, clear }, action, onClose }: ActionDialogProps) {
  const props = { projectId: useProject().id, onClose, onDone: clear };
  if (!action || (!all && users.length <= bulkPage))
    return <ChangeUsersDialog {...props} users={users} action={action} />;
  return (
    <LazyDialog>
      <BulkUsers {...props} action={action} of={all ?? users} />
    </LazyDialog>
  );
}

/** Column chooser; stored in this browser. */
function ColumnMenu({ shown, onShow }: { shown: readonly UserColumn[]; onShow(columns: UserColumn[]): void }) {
  const toggle = (name: UserColumn) => {
    const next = choosable.filter((one) => (one === name) !== shown.includes(one));
    keepColumns(next);
    onShow(next);
  };
  return (
    <MenuButton label={t('Columns')} visibleFrom="sm">
      {choosable.map((name) => (
        <Menu.CheckboxItem key={name} checked={shown.includes(name)} onChange={() => toggle(name)}>
          {userColumns[name].header}
        </Menu.CheckboxItem>
      ))}
    </MenuButton>
  );
}
