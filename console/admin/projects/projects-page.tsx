import { Badge, Button, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { useMutation, useQuery } from '../api.ts';
import { CreateProject, Projects, type ProjectsQuery } from '../generated/operations.ts';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { Icon } from '../ui/icon.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { ListBar, Pager, SearchField, useListParams } from '../ui/lists/list-bar.tsx';
import { Time } from '../ui/time.tsx';
import styles from './projects-page.module.css';

type Row = ProjectsQuery['projects']['edges'][number]['node'];

const columns: readonly Column<Row>[] = [
  {
    header: 'Name',
    isName: true,
    width: '40%',
    cell: ({ name }) => name,
  },
  {
    header: 'Status',
    cell: ({ builtIn, testMode }) => (
      <span className={styles.badges}>
        {builtIn === 'CONSOLE' && <Badge>Console sign-in</Badge>}
        {builtIn === 'DEMO' && <Badge>Sample</Badge>}
        {testMode && <Badge color="note">Test mode</Badge>}
        {builtIn === null && !testMode && <Badge color="good">In use</Badge>}
      </span>
    ),
  },
  { header: 'Sign-up', cell: ({ signUp }) => (signUp === 'OPEN' ? 'Open' : 'Provisioned only') },
  {
    header: 'Second factor',
    cell: ({ mfaPolicy }) => ({ OFF: 'Off', OPTIONAL: 'Optional', REQUIRED: 'Required' })[mfaPolicy],
  },
  { header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Projects in which the account has a role. */
export function Component() {
  const { get } = useListParams();
  const [params, setParams] = useSearchParams();
  const { isOwner } = useAccess();
  const search = get('search');
  const { data, failure, stale, reload } = useQuery(
    Projects,
    { search: search ?? null, after: get('after') ?? null },
    { keep: true },
  );
  const page = data?.projects;
  const [isOpen, setOpen] = useState(false);
  const isNew = isOpen || params.has('new');
  const open = (on: boolean) => {
    // Open at once; the router updates the URL later, and input typed meanwhile belongs to the dialog.
    setOpen(on);
    setParams(on ? { new: '' } : {}, { replace: true });
  };
  const create = isOwner && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => open(true)}>
      Create project
    </Button>
  );
  return (
    <Page
      title="Projects"
      lead="A project is a tenant: users, applications, a directory and policies of its own."
      actions={create}
    >
      {failure && !page ? (
        <LoadError failure={failure} subject="the list of projects" retry={reload} />
      ) : (
        <Section flush>
          <ListBar count={page && `${page.totalCount} project${page.totalCount === 1 ? '' : 's'}`}>
            <SearchField label="Search projects" placeholder="Search by name" />
          </ListBar>
          <DataTable
            label="Projects"
            columns={columns}
            rows={page?.edges.map(({ node }) => node)}
            keyOf={({ id }) => id}
            linkOf={({ id }) => `/projects/${id}/overview`}
            stale={stale}
            empty={
              <Empty icon="projects" title={search ? 'No matching projects' : 'No projects yet'}>
                {search ? 'Try another part of the name.' : 'Create one per tenant; projects share nothing.'}
              </Empty>
            }
          />
          <Pager pageInfo={page?.pageInfo} />
        </Section>
      )}
      <Modal
        opened={isNew && isOwner}
        onClose={() => open(false)}
        title="Create project"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {isNew && <CreateForm onClose={() => open(false)} />}
      </Modal>
    </Page>
  );
}

function CreateForm({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [create, busy, failure] = useMutation(CreateProject, [Projects]);
  const field = useFirstFocus<HTMLInputElement>();
  const navigate = useNavigate();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const outcome = await create({ input: { name } });
    if (!outcome.data) return;
    toast(`${outcome.data.createProject.name} created`);
    void navigate(`/projects/${outcome.data.createProject.id}/overview`);
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextInput
        label="Name"
        description="Shown at sign-in. You can change it later."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={failure?.field === 'name' && failure.message}
        maxLength={200}
        required
        ref={field}
        data-autofocus
      />
      <p className={styles.hint}>Defaults: open sign-up, no second factor, directory sync without tokens.</p>
      {failure?.field !== 'name' && <FormError failure={failure} />}
      <div className={styles.actions}>
        <ShowGraphql operation={CreateProject} variables={{ input: { name } }} />
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={busy} disabled={name.trim() === ''}>
          Create project
        </Button>
      </div>
    </form>
  );
}
