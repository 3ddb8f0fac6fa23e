import { Button } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { AuditEvents, DeleteRole, type RoleRowFragment, Roles } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { count } from '../ui/counted.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { type Column, editColumn } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { RoleForm } from './role-form.tsx';
import { AssignForm, RoleHolders } from './role-holders.tsx';

const columns: Column<RoleRowFragment>[] = [
  { header: t('Name'), isName: true, width: '24%', cell: ({ name }) => name },
  { header: t('Key'), cell: ({ key }) => <code>{key}</code> },
  { header: t('Description'), cell: ({ description }) => description ?? '–' },
  { header: t('Users'), cell: ({ userCount }) => count.format(userCount) },
  { header: t('Groups'), cell: ({ groupCount }) => count.format(groupCount) },
];

/** The roles of an application, and their holders. */
export function ClientRoles({ client, mayChange }: ClientPartProps) {
  const { data, failure, reload } = useQuery(Roles, { clientId: client.id });
  const [dialog, { open, confirm }] = useDialog();
  const [chosenId, setChosenId] = useState<string>();
  const roles = data?.roles;
  const chosen = roles?.find(({ id }) => id === chosenId);
  if (failure && !roles) return <LoadError failure={failure} subject={t('the list of roles')} retry={reload} />;
  const create = () => open(t('Create role'), (close) => <RoleForm clientId={client.id} onClose={close} />);
  const edit = (role: RoleRowFragment) =>
    open(t('Edit role'), (close) => <RoleForm clientId={client.id} role={role} onClose={close} />);
  const assign = (role: RoleRowFragment) => {
    setChosenId(role.id);
    open(t('Assign {name}', { name: role.name }), (close) => <AssignForm role={role} onClose={close} />);
  };
  const actions = editColumn<RoleRowFragment>({
    others: (role) => (
      <>
        {mayChange && (
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={t('Assign {name}', { name: role.name })}
            onClick={() => assign(role)}
          >
            {t('Assign')}
          </Button>
        )}
        <Button
          variant="subtle"
          size="compact-sm"
          aria-label={t('Show the holders of {name}', { name: role.name })}
          aria-pressed={role.id === chosenId}
          onClick={() => setChosenId(role.id === chosenId ? undefined : role.id)}
        >
          {t('Holders')}
        </Button>
      </>
    ),
    mayChange,
    edit,
    remove: (role) => confirm(deletion(role)),
  });
  return (
    <>
      <TableSection
        title={t('Roles')}
        lead={t("The application receives the keys of a user's roles with the roles scope.")}
        actions={mayChange && <AddButton onClick={create}>{t('Create role')}</AddButton>}
        columns={[...columns, actions]}
        rows={roles}
        skeletonRows={2}
        empty={
          <Empty icon="shield" title={t('No roles yet')}>
            {t('Define what users may do in this application, then assign roles to users or groups.')}
          </Empty>
        }
      />
      {chosen && <RoleHolders key={chosen.id} role={chosen} mayChange={mayChange} />}
      {dialog}
    </>
  );
}

const deletion = ({ id, key, name, userCount, groupCount }: RoleRowFragment): Confirmation => ({
  title: t('Delete the role {name}?', { name }),
  effect: (
    <p>
      {rich(
        '{users, plural, one {# user} other {# users}} and {groups, plural, one {# group} other {# groups}} lose it. Tokens issued from now on do not have <code>{key}</code>.',
        { users: userCount, groups: groupCount, key },
      )}
    </p>
  ),
  verb: t('Delete role'),
  request: request(DeleteRole, { id }),
  invalidates: [Roles, AuditEvents],
  done: t('Role deleted'),
});
