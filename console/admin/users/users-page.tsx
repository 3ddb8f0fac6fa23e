import { Button, Checkbox, Menu } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { useAccess } from '../access.tsx';
import { useRead } from '../api.ts';
import { type UserAction, type UserFilter, type UserRowFragment, Users } from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Empty } from '../ui/empty.tsx';
import { Failed } from '../ui/failed.tsx';
import { Icon } from '../ui/icon.tsx';
import { Filter, ListBar, Pager, SearchField, useListParams } from '../ui/list-bar.tsx';
import { Mark } from '../ui/mark.tsx';
import { Page, Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ChangeUsersDialog } from './change-users.tsx';
import { userActions } from './user-actions.ts';
import styles from './users-page.module.css';

type Row = UserRowFragment;

const nameOf = ({ displayName, userName }: Row) => displayName ?? userName;
const count = new Intl.NumberFormat('en-GB');

const columns: readonly Column<Row>[] = [
  { header: 'Name', isName: true, width: '26%', cell: nameOf },
  { header: 'User name', cell: ({ userName }) => userName },
  {
    header: 'State',
    cell: ({ active }) => (active ? <Mark tone="good">Active</Mark> : <Mark tone="bad">Deactivated</Mark>),
  },
  { header: 'Came from', cell: ({ provenance }) => (provenance === 'SCIM' ? 'Directory' : 'Sign-up') },
  { header: 'Last sign-in', cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
];

function filterOf(get: (name: string) => string | undefined): UserFilter {
  const [state, provenance] = [get('state'), get('provenance')];
  return {
    ...(state === 'active' || state === 'inactive' ? { active: state === 'active' } : {}),
    ...(provenance === 'SCIM' || provenance === 'LOCAL' ? { provenance } : {}),
  };
}

/** Everybody in the project; searched, filtered and paged at the server. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { get, set } = useListParams();
  const { mayChange } = useAccess(project.id);
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [action, setAction] = useState<UserAction>();
  const search = get('search');
  const variables = {
    projectId: project.id,
    search: search ?? null,
    filter: filterOf(get),
    after: get('after') ?? null,
  };
  const { data, failure, stale, reload } = useRead(Users, variables, { keep: true });
  const page = data?.users;
  const rows = page?.edges.map(({ node }) => node);
  const isFiltered = search !== undefined || get('state') !== undefined || get('provenance') !== undefined;
  const isEmpty = page?.totalCount === 0 && !isFiltered;

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
    header: 'Chosen',
    width: '3.5rem',
    isCorner: true,
    head: (
      <Checkbox
        size="xs"
        aria-label="Choose all on this page"
        checked={onPage > 0 && onPage === rows?.length}
        indeterminate={onPage > 0 && onPage < (rows?.length ?? 0)}
        onChange={(event) => choose(rows ?? [], event.currentTarget.checked)}
      />
    ),
    cell: (user) => (
      <Checkbox
        size="xs"
        aria-label={`Choose ${nameOf(user)}`}
        checked={chosen.has(user.id)}
        onChange={(event) => choose([user], event.currentTarget.checked)}
      />
    ),
  };
  return (
    <Page title="Users" lead={`Everybody who has an account in ${project.name}.`}>
      {failure && !page ? (
        <Failed failure={failure} what="the list of users" retry={reload} />
      ) : (
        <Section flush>
          {!isEmpty && (
            <ListBar count={page && `${count.format(page.totalCount)} user${page.totalCount === 1 ? '' : 's'}`}>
              <SearchField label="Search users" placeholder="Name, e-mail, user name or external ID" />
              <Filter
                name="state"
                label="State"
                options={[
                  { value: '', label: 'Any state' },
                  { value: 'active', label: 'Active' },
                  { value: 'inactive', label: 'Deactivated' },
                ]}
              />
              <Filter
                name="provenance"
                label="Came from"
                options={[
                  { value: '', label: 'From anywhere' },
                  { value: 'SCIM', label: 'Directory' },
                  { value: 'LOCAL', label: 'Sign-up' },
                ]}
              />
            </ListBar>
          )}
          {chosen.size > 0 && (
            <div className={styles.chosen} role="region" aria-label="Chosen users">
              <strong role="status">
                {count.format(chosen.size)} chosen{chosen.size > 100 ? ': at most 100 at once' : ''}
              </strong>
              <Menu>
                <Menu.Target>
                  <Button size="xs" disabled={chosen.size > 100} rightSection={<Icon name="down" size={14} />}>
                    Do with them
                  </Button>
                </Menu.Target>
                <Menu.Dropdown>
                  {Object.entries(userActions).map(([value, { verb, isFinal }]) => (
                    <Menu.Item
                      key={value}
                      {...(isFinal ? { color: 'red' } : {})}
                      onClick={() => setAction(value as UserAction)}
                    >
                      {verb}
                    </Menu.Item>
                  ))}
                </Menu.Dropdown>
              </Menu>
              <Button size="xs" variant="subtle" onClick={() => setChosen(new Map())}>
                Choose none
              </Button>
            </div>
          )}
          <DataTable
            label="Users"
            columns={mayChange ? [select, ...columns] : columns}
            rows={rows}
            keyOf={({ id }) => id}
            linkOf={({ id }) => path(`users/${id}`)}
            stale={stale}
            sketch={10}
            empty={
              isEmpty ? (
                <Empty
                  icon="users"
                  title="Nobody yet"
                  action={
                    <Button component={Link} to={path('directory')}>
                      Connect a directory
                    </Button>
                  }
                >
                  {project.signUp === 'OPEN'
                    ? 'People appear here with their first sign-in, or when a directory brings them.'
                    : 'Only a directory can bring people into this project.'}
                </Empty>
              ) : (
                <Empty
                  icon="search"
                  title="Nobody fits"
                  action={
                    <Button
                      variant="default"
                      onClick={() => set({ search: undefined, state: undefined, provenance: undefined })}
                    >
                      Remove search and filters
                    </Button>
                  }
                >
                  The search looks at the beginning of names, e-mail addresses, user names and external IDs.
                </Empty>
              )
            }
          />
          <Pager pageInfo={page?.pageInfo} />
        </Section>
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
