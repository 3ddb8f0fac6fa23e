import { Badge, Group, Modal, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { CreateProject, Projects, type ProjectsQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { count } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { useFirstFocus } from '../ui/forms/first-focus.ts';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';
import { Page } from '../ui/layout/page.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { ResourceList, useList } from '../ui/lists/resource-list.tsx';
import { Time } from '../ui/time.tsx';

type Row = ProjectsQuery['projects']['edges'][number]['node'];

const columns: readonly Column<Row>[] = [
  {
    header: t('Name'),
    isName: true,
    width: '30%',
    cell: ({ name }) => name,
  },
  {
    header: t('Status'),
    cell: ({ builtIn, testMode }) => (
      <Group component="span" gap={4}>
        {builtIn === 'CONSOLE' && <Badge>{t('Console sign-in')}</Badge>}
        {builtIn === 'DEMO' && <Badge>{t('Sample')}</Badge>}
        {testMode && <Badge color="note">{t('Test mode')}</Badge>}
        {builtIn === null && !testMode && t('In use')}
      </Group>
    ),
  },
  { header: t('Users'), align: 'end', cell: ({ usage }) => count.format(usage.users) },
  { header: t('Applications'), align: 'end', cell: ({ usage }) => count.format(usage.clients) },
  {
    header: t('Last activity'),
    cell: ({ usage }) => <Time at={usage.lastActivityAt} />,
  },
  { header: t('Created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Projects in which the account has a role. */
export function Component() {
  const [params, setParams] = useSearchParams();
  const { isOwner } = useAccess();
  const list = useList(
    Projects,
    (search, after) => ({ search, after }),
    ({ projects }) => projects,
  );
  const [isOpen, setOpen] = useState(false);
  const isNew = isOpen || params.has('new');
  const open = (on: boolean) => {
    // Opens immediately: the router updates the URL later, and input typed in the meantime belongs to the dialog.
    setOpen(on);
    setParams(on ? { new: '' } : {}, { replace: true });
  };
  return (
    <Page
      title={t('Projects')}
      lead={t('A project is a tenant with its own users, applications, directory and policies.')}
      actions={isOwner && <AddButton onClick={() => open(true)}>{t('Create project')}</AddButton>}
    >
      <ResourceList
        list={list}
        label={t('Projects')}
        counted={(count) => t('{count, plural, one {# project} other {# projects}}', { count })}
        placeholder={t('Search by name')}
        columns={columns}
        linkOf={({ id }) => `/projects/${id}/overview`}
        empty={
          <Empty icon="projects" title={t('No projects yet')}>
            {t('Create one per tenant; projects share nothing.')}
          </Empty>
        }
        noMatch={t('Try another part of the name.')}
      />
      <Modal opened={isNew && isOwner} onClose={() => open(false)} title={t('Create project')}>
        {isNew && <CreateForm onClose={() => open(false)} />}
      </Modal>
    </Page>
  );
}

function CreateForm({ onClose }: { onClose(): void }) {
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const navigate = useNavigate();
  const form = useDialogForm({
    initial: { name: '' },
    request: (input) => request(CreateProject, { input }),
    invalidates: [Projects],
    onDone({ createProject: { id, name } }) {
      toast(t('{name} created', { name }));
      void navigate(`/projects/${id}/overview`);
    },
    onClose,
  });
  return (
    <DialogForm {...form.props} verb={t('Create project')} disabled={form.values.name.trim() === ''}>
      <TextInput
        label={t('Name')}
        description={t('Shown at sign-in. You can change it later.')}
        {...form.field('name')}
        maxLength={200}
        required
        withAsterisk={false}
        {...firstFocus}
      />
      <Text c="dimmed">{t('Defaults: open sign-up, no second factor, directory sync without tokens.')}</Text>
    </DialogForm>
  );
}
