import { Button, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { AuditEvents, DeleteRole, type RoleRowFragment, Roles } from '../generated/operations.ts';
import { count, counted } from '../ui/counted.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Icon } from '../ui/icon.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import { RoleForm } from './role-form.tsx';
import { RoleHolders } from './role-holders.tsx';

/** The roles of an application, and who holds them. */
export function ClientRoles({ client, mayChange }: ClientPartProps) {
  const { data, failure, reload } = useQuery(Roles, { clientId: client.id });
  const [edited, setEdited] = useState<RoleRowFragment | 'new'>();
  const [doomed, setDoomed] = useState<RoleRowFragment>();
  const [chosenId, setChosenId] = useState<string>();
  const roles = data?.roles;
  const chosen = roles?.find(({ id }) => id === chosenId);
  if (failure && !roles) return <LoadError failure={failure} subject="the list of roles" retry={reload} />;
  const columns: Column<RoleRowFragment>[] = [
    { header: 'Name', isName: true, width: '24%', cell: ({ name }) => name },
    { header: 'Key', cell: ({ key }) => <code>{key}</code> },
    { header: 'Description', cell: ({ description }) => description ?? '–' },
    { header: 'Users', cell: ({ userCount }) => count.format(userCount) },
    { header: 'Groups', cell: ({ groupCount }) => count.format(groupCount) },
    {
      header: '',
      align: 'end',
      isPlain: true,
      cell: (role) => (
        <Group gap={4} wrap="nowrap" display="inline-flex">
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={`Show the holders of ${role.name}`}
            aria-pressed={role.id === chosenId}
            onClick={() => setChosenId(role.id === chosenId ? undefined : role.id)}
          >
            Holders
          </Button>
          {mayChange && (
            <>
              <Button
                variant="subtle"
                size="compact-sm"
                aria-label={`Edit ${role.name}`}
                onClick={() => setEdited(role)}
              >
                Edit
              </Button>
              <Button
                variant="subtle"
                color="red"
                size="compact-sm"
                aria-label={`Delete ${role.name}`}
                onClick={() => setDoomed(role)}
              >
                Delete
              </Button>
            </>
          )}
        </Group>
      ),
    },
  ];
  return (
    <>
      <Section
        flush
        title="Roles"
        lead="The application receives the keys of a user's roles in the claim of the scope roles."
        actions={
          mayChange && (
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEdited('new')}>
              Create role
            </Button>
          )
        }
      >
        <DataTable
          label="Roles"
          columns={columns}
          rows={roles}
          skeletonRows={2}
          empty={
            <Empty icon="shield" title="No roles yet">
              Define what users may do in this application, then assign roles to users or groups.
            </Empty>
          }
        />
      </Section>
      {chosen && <RoleHolders key={chosen.id} role={chosen} mayChange={mayChange} />}
      <Modal
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited === 'new' ? 'Create a role' : 'Edit the role'}
      >
        {edited && (
          <RoleForm
            clientId={client.id}
            {...(edited === 'new' ? {} : { role: edited })}
            onClose={() => setEdited(undefined)}
          />
        )}
      </Modal>
      <ConfirmMutation
        title={`Delete the role ${doomed?.name}?`}
        verb="Delete role"
        operation={DeleteRole}
        variables={doomed && { id: doomed.id }}
        invalidates={[Roles, AuditEvents]}
        done="Role deleted"
        onClose={() => setDoomed(undefined)}
      >
        <p>
          {doomed && `${counted(doomed.userCount, 'user')} and ${counted(doomed.groupCount, 'group')}`} lose it. Tokens
          issued from now on do not have <code>{doomed?.key}</code>.
        </p>
      </ConfirmMutation>
    </>
  );
}
