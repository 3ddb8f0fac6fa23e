import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { AuditEvents, DeleteRole, type RoleRowFragment, Roles } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { count } from '../ui/counted.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { type Column, DataTable, editColumn } from '../ui/lists/data-table.tsx';
import { RoleForm } from './role-form.tsx';
import { RoleHolders } from './role-holders.tsx';

/** The roles of an application, and their holders. */
export function ClientRoles({ client, mayChange }: ClientPartProps) {
  const { data, failure, reload } = useQuery(Roles, { clientId: client.id });
  const [edited, setEdited] = useState<RoleRowFragment | 'new'>();
  const [deleting, setDeleting] = useState<RoleRowFragment>();
  const [chosenId, setChosenId] = useState<string>();
  const roles = data?.roles;
  const chosen = roles?.find(({ id }) => id === chosenId);
  if (failure && !roles) return <LoadError failure={failure} subject={t('the list of roles')} retry={reload} />;
  const columns: Column<RoleRowFragment>[] = [
    { header: t('Name'), isName: true, width: '24%', cell: ({ name }) => name },
    { header: t('Key'), cell: ({ key }) => <code>{key}</code> },
    { header: t('Description'), cell: ({ description }) => description ?? '–' },
    { header: t('Users'), cell: ({ userCount }) => count.format(userCount) },
    { header: t('Groups'), cell: ({ groupCount }) => count.format(groupCount) },
    editColumn<RoleRowFragment>({
      others: (role) => (
        <Button
          variant="subtle"
          size="compact-sm"
          aria-label={t('Show the holders of {name}', { name: role.name })}
          aria-pressed={role.id === chosenId}
          onClick={() => setChosenId(role.id === chosenId ? undefined : role.id)}
        >
          {t('Holders')}
        </Button>
      ),
      mayChange,
      edit: setEdited,
      remove: setDeleting,
    }),
  ];
  return (
    <>
      <Section
        flush
        title={t('Roles')}
        lead={t("The application receives the keys of a user's roles in the claim of the scope roles.")}
        actions={mayChange && <AddButton onClick={() => setEdited('new')}>{t('Create role')}</AddButton>}
      >
        <DataTable
          label={t('Roles')}
          columns={columns}
          rows={roles}
          skeletonRows={2}
          empty={
            <Empty icon="shield" title={t('No roles yet')}>
              {t('Define what users may do in this application, then assign roles to users or groups.')}
            </Empty>
          }
        />
      </Section>
      {chosen && <RoleHolders key={chosen.id} role={chosen} mayChange={mayChange} />}
      <Modal
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited === 'new' ? t('Create a role') : t('Edit the role')}
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
        title={t('Delete the role {name}?', { name: deleting?.name })}
        verb={t('Delete role')}
        operation={DeleteRole}
        variables={deleting && { id: deleting.id }}
        invalidates={[Roles, AuditEvents]}
        done={t('Role deleted')}
        onClose={() => setDeleting(undefined)}
      >
        <p>
          {deleting &&
            rich(
              '{users, plural, one {# user} other {# users}} and {groups, plural, one {# group} other {# groups}} lose it. Tokens issued from now on do not have <code>{key}</code>.',
              { users: deleting.userCount, groups: deleting.groupCount, key: deleting.key },
            )}
        </p>
      </ConfirmMutation>
    </>
  );
}
