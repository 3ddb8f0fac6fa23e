import { Button, Checkbox, Group, Menu, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { type UserAction, type UserOrder, type UserRowFragment, Users } from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { count } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { Filter, useListParams } from '../ui/lists/list-bar.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { ChangeUsersDialog } from './change-users.tsx';
import { UserActionItems } from './user-actions.tsx';
import { choosable, chosenColumns, keepColumns, nameOf, type UserColumn, userColumns } from './user-columns.tsx';
import { filterNames, filterOf, nextSorting, sortingOf, sortings, userFilters } from './user-filters.ts';
import styles from './users-page.module.css';

const AddUser = lazy(async () => ({ default: (await import('./add/add-user.tsx')).AddUser }));
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
  const choose = (users: readonly Row[], on: boolean) =>
    setChosen((before) => {
      const next = new Map(before);
      for (const user of users) {
        if (on) next.set(user.id, nameOf(user));
        else next.delete(user.id);
      }
      return next;
    });
  const onPage = rows?.filter(({ id }) => chosen.has(id)).length ?? 0;
  const select: Column<Row> = {
    header: 'Selected',
    width: '3.5rem',
    isCorner: true,
    head: (
      <Checkbox
        size="xs"
        aria-label="Select all on this page"
        checked={onPage > 0 && onPage === rows?.length}
        indeterminate={onPage > 0 && onPage < (rows?.length ?? 0)}
        onChange={(event) => choose(rows ?? [], event.currentTarget.checked)}
      />
    ),
    cell: (user) => (
      <Checkbox
        size="xs"
        aria-label={`Select ${nameOf(user)}`}
        checked={chosen.has(user.id)}
        onChange={(event) => choose([user], event.currentTarget.checked)}
      />
    ),
  };
  return (
    <Page
      title="Users"
      lead={`All accounts in ${project.name}`}
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
                Export
              </Button>
            )}
            <Button component={Link} to={path('users/import')} variant="default">
              Import
            </Button>
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
              Add user
            </Button>
          </>
        )
      }
    >
      <ResourceList
        list={list}
        label="Users"
        noun="user"
        placeholder="Name, e-mail, user name or external ID"
        filters={
          <>
            {userFilters.map((one) => (
              <Filter key={one.name} {...one} />
            ))}
            <Filter
              name="sort"
              label="Order"
              options={Object.entries(sortings).map(([value, { label }]) => ({
                value: value === 'newest' ? '' : value,
                label,
              }))}
            />
            {filters > 0 && (
              <Button variant="subtle" size="compact-sm" onClick={clear}>
                Clear all
              </Button>
            )}
            <ColumnMenu shown={shown} onShow={setShown} />
          </>
        }
        columns={mayChange ? [select, ...columns] : columns}
        linkOf={({ id }) => path(`users/${id}`)}
        skeletonRows={10}
        empty={
          <Empty
            icon="users"
            title="No users yet"
            action={
              <Button component={Link} to={path('directory')}>
                Connect a directory
              </Button>
            }
          >
            {project.signUp === 'OPEN'
              ? 'Users appear at first sign-in, when a directory creates them, or when you add them.'
              : 'A directory creates users, or you add them.'}
          </Empty>
        }
        noMatch="Search matches parts of names, e-mail addresses, user names and external IDs, and all words must match. One or two letters match where a word begins."
        onClear={clear}
      >
        {chosen.size > 0 && (
          <Group gap="sm" className={styles.chosen ?? ''} role="region" aria-label="Selected users">
            <Text span fw={600} role="status">
              {count.format(chosen.size)} selected{chosen.size > 100 ? ': at most 100 at once' : ''}
            </Text>
            <Menu>
              <Menu.Target>
                <Button size="xs" disabled={chosen.size > 100} rightSection={<Icon name="down" size={14} />}>
                  Actions
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                <UserActionItems onChoose={setAction} />
              </Menu.Dropdown>
            </Menu>
            <Button size="xs" variant="subtle" onClick={() => setChosen(new Map())}>
              Clear selection
            </Button>
          </Group>
        )}
      </ResourceList>
      {adding && (
        <Suspense>
          <AddUser onClose={() => setAdding(false)} />
        </Suspense>
      )}
      {exporting && (
        <Suspense>
          <ExportUsers
            onClose={() => setExporting(false)}
            projectId={project.id}
            total={page?.isLimited ? undefined : (page?.totalCount ?? 0)}
            search={list.search}
            filter={filter}
          />
        </Suspense>
      )}
      <ChangeUsersDialog
        projectId={project.id}
        users={[...chosen].map(([id, name]) => ({ id, name }))}
        action={action}
        onClose={() => setAction(undefined)}
        onDone={() => setChosen(new Map())}
      />
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
          Columns
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
