import { Button, Checkbox, Group, Menu, Text } from '@mantine/core';
import { lazy, useState } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { type UserAction, type UserOrder, type UserRowFragment, Users } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';

import { atLeast } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LazyDialog } from '../ui/feedback/lazy-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { activeFilters, Filters } from '../ui/lists/filters.tsx';
import { useListParams } from '../ui/lists/list-bar.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { bulkPage } from './bulk/bulk-run.ts';
import type { AllMatching } from './bulk/bulk-users.tsx';
import { ChangeUsersDialog } from './change-users.tsx';
import { UserActionItems } from './user-actions.tsx';
import { choosable, chosenColumns, keepColumns, nameOf, type UserColumn, userColumns } from './user-columns.tsx';
import { filterNames, filterOf, nextSorting, sortingOf, userFilters } from './user-filters.ts';
import styles from './users-page.module.css';

const AddUser = lazy(async () => ({ default: (await import('./add/add-user.tsx')).AddUser }));
const BulkUsers = lazy(async () => ({ default: (await import('./bulk/bulk-users.tsx')).BulkUsers }));
const ExportUsers = lazy(async () => ({ default: (await import('./export-users.tsx')).ExportUsers }));

type Row = UserRowFragment;

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
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [allOf, setAllOf] = useState<string>();
  const [action, setAction] = useState<UserAction>();
  const [shown, setShown] = useState(chosenColumns);
  const [exporting, setExporting] = useState(false);
  const [adding, setAdding] = useState(false);
  const filter = filterOf(get);
  const sorting = sortingOf(get('sort'));
  const { orderBy, direction } = sorting;
  const filters = filterNames.filter((name) => get(name) !== undefined).length;
  const list = useList(
    Users,
    (search, after) => ({ projectId: project.id, search, filter, orderBy, direction, after }),
    ({ users }) => users,
    { isFiltered: filters > 0 },
  );
  const { page, rows, isEmpty } = list;
  const total = page?.totalCount ?? 0;
  const clear = () => set(Object.fromEntries(['search', ...filterNames].map((name) => [name, undefined])));
  const columns = (['name', ...shown] as const).map((name): Column<Row> => {
    const by = orderOf[name];
    if (!by) return userColumns[name];
    const way = direction === 'ASC' ? 'ascending' : 'descending';
    const sort = {
      direction: by === orderBy ? way : undefined,
      onSort: () => set({ sort: nextSorting(by, sorting) }),
    } as const;
    return { ...userColumns[name], sort };
  });
  const choose = (some: readonly Row[], on: boolean) => {
    setAllOf(undefined);
    setChosen((before) => {
      const next = new Map(before);
      for (const user of some) {
        if (on) next.set(user.id, nameOf(user));
        else next.delete(user.id);
      }
      return next;
    });
  };
  const clearSelection = () => {
    setAllOf(undefined);
    setChosen(new Map());
  };
  const onPage = rows?.filter(({ id }) => chosen.has(id)).length ?? 0;
  // All that match: only for the search and filters for which it was chosen.
  const question = JSON.stringify([list.search, filter]);
  const all: AllMatching | undefined =
    allOf === question && page
      ? {
          search: list.search ?? null,
          filter,
          conditions: [
            ...(list.search ? [`“${list.search}”`] : []),
            ...activeFilters(userFilters, get).map(({ label, value }) => `${label}: ${value}`),
          ],
        }
      : undefined;
  const selected = all ? total : chosen.size;
  const totalText = atLeast(total, page?.isTotalLimited ?? false);
  const mayTakeAll = page !== undefined && !page.isLimited && onPage > 0 && onPage === rows?.length && total > onPage;
  const users = [...chosen].map(([id, name]) => ({ id, name }));
  const select: Column<Row> = {
    header: t('Selected'),
    width: '3.5rem',
    isCorner: true,
    head: (
      <Checkbox
        size="xs"
        aria-label={t('Select all on this page')}
        checked={all !== undefined || (onPage > 0 && onPage === rows?.length)}
        indeterminate={!all && onPage > 0 && onPage < (rows?.length ?? 0)}
        onChange={(event) => choose(rows ?? [], event.currentTarget.checked)}
      />
    ),
    cell: (user) => (
      <Checkbox
        size="xs"
        aria-label={t('Select {user}', { user: nameOf(user) })}
        checked={all !== undefined || chosen.has(user.id)}
        onChange={(event) => choose([user], event.currentTarget.checked)}
      />
    ),
  };
  return (
    <Page
      title={t('Users')}
      lead={t('All accounts in {name}', { name: project.name })}
      actions={
        mayChange && (
          <>
            {!isEmpty && (
              <Button
                variant="default"
                leftSection={<Icon name="download" size={16} />}
                disabled={!page}
                onClick={() => setExporting(true)}
              >
                {t('Export')}
              </Button>
            )}
            <Button component={Link} to={path('users/import')} variant="default">
              {t('Import')}
            </Button>
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
              {t('Add user')}
            </Button>
          </>
        )
      }
    >
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
        columns={mayChange ? [select, ...columns] : columns}
        linkOf={({ id }) => path(`users/${id}`)}
        skeletonRows={10}
        empty={
          <Empty
            icon="users"
            title={t('No users yet')}
            action={
              <Button component={Link} to={path('directory')} variant="default">
                {t('Connect a directory')}
              </Button>
            }
          >
            {project.signUp === 'OPEN'
              ? t('Users appear at first sign-in, when a directory creates them, or when you add them.')
              : t('A directory creates users, or you add them.')}
          </Empty>
        }
        noMatch={t(
          'Search matches parts of names, email addresses, user names and external IDs, and all words must match. One or two letters match where a word begins.',
        )}
        onClear={clear}
      >
        {selected > 0 && (
          <Group gap="sm" className={styles.chosen ?? ''} role="region" aria-label={t('Selected users')}>
            <Text span fw={600} role="status">
              {all
                ? t('All {selected} that match selected', { selected: totalText })
                : t('{selected, number} selected', { selected })}
            </Text>
            <Menu>
              <Menu.Target>
                <Button size="xs" rightSection={<Icon name="down" size={14} />}>
                  {t('Actions')}
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                <UserActionItems onChoose={setAction} />
              </Menu.Dropdown>
            </Menu>
            {!all && mayTakeAll && (
              <Button size="xs" variant="subtle" onClick={() => setAllOf(question)}>
                {t('Select all {total} that match', { total: totalText })}
              </Button>
            )}
            <Button size="xs" variant="subtle" onClick={clearSelection}>
              {t('Clear selection')}
            </Button>
          </Group>
        )}
      </ResourceList>
      {adding && (
        <LazyDialog>
          <AddUser onClose={() => setAdding(false)} />
        </LazyDialog>
      )}
      {exporting && (
        <LazyDialog>
          <ExportUsers
            onClose={() => setExporting(false)}
            projectId={project.id}
            total={page?.isTotalLimited ? undefined : (page?.totalCount ?? 0)}
            search={list.search}
            filter={filter}
          />
        </LazyDialog>
      )}
      {action && (all || chosen.size > bulkPage) ? (
        <LazyDialog>
          <BulkUsers
            projectId={project.id}
            action={action}
            of={all ?? users}
            onClose={() => setAction(undefined)}
            onDone={clearSelection}
          />
        </LazyDialog>
      ) : (
        <ChangeUsersDialog
          projectId={project.id}
          users={users}
          action={action}
          onClose={() => setAction(undefined)}
          onDone={clearSelection}
        />
      )}
    </Page>
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
    <Menu position="bottom-end">
      <Menu.Target>
        <Button visibleFrom="sm" variant="default" rightSection={<Icon name="down" size={14} />}>
          {t('Columns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {choosable.map((name) => (
          <Menu.CheckboxItem key={name} checked={shown.includes(name)} onChange={() => toggle(name)}>
            {userColumns[name].header}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
