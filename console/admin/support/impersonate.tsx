import { Button, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import { useSearch } from '../frame/search/use-search.ts';
import {
  AuditEvents,
  BeginImpersonation,
  type BeginImpersonationMutation,
  Clients,
  Impersonations,
  OrganizationsOfUser,
  UserAccess,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { DialogForm } from '../ui/forms/dialog-form.tsx';
import { SearchSelect } from '../ui/forms/search-select.tsx';
import { useDialogForm } from '../ui/forms/use-dialog-form.ts';

interface ImpersonateProps {
  user: { id: string; name: string };
  onClose(): void;
}

type Begun = BeginImpersonationMutation['beginImpersonation'];

/** Begins an impersonation, and shows its link. */
export function Impersonate({ user, onClose }: ImpersonateProps) {
  const [begun, setBegun] = useState<Begun & { application: string }>();
  return (
    <Modal opened onClose={onClose} title={t('Impersonate {name}', { name: user.name })}>
      {begun ? (
        <Stack>
          <Text>
            {t('The link works once, within a minute. You are then {name} in {application} for 15 minutes.', {
              name: user.name,
              application: begun.application,
            })}
          </Text>
          <Button component="a" href={begun.url} target="_blank" rel="noreferrer" onClick={onClose}>
            {t('Open {application}', { application: begun.application })}
          </Button>
        </Stack>
      ) : (
        <BeginForm user={user} onBegun={setBegun} onClose={onClose} />
      )}
    </Modal>
  );
}

interface BeginFormProps extends ImpersonateProps {
  onBegun(begun: Begun & { application: string }): void;
}

function BeginForm({ user, onBegun, onClose }: BeginFormProps) {
  const project = useProject();
  const [search, setSearch] = useState('');
  const { answer } = useSearch(Clients, { projectId: project.id, search, after: null }, true);
  const member = useQuery(
    OrganizationsOfUser,
    { userId: user.id, after: null },
    { pause: !project.organizationsEnabled },
  );
  const applications = answer?.clients.edges.map(({ node: { id, name } }) => ({ value: id, label: name }));
  const organizations = member.data?.user?.organizationMemberships.edges.map(({ node: { organization } }) => ({
    value: organization.id,
    label: organization.name,
  }));
  const form = useDialogForm({
    initial: { clientId: null as string | null, application: '', organizationId: null as string | null, reason: '' },
    request: ({ clientId, organizationId, reason }) =>
      request(BeginImpersonation, { input: { userId: user.id, clientId: clientId ?? '', organizationId, reason } }),
    invalidates: [UserAccess, Impersonations, AuditEvents],
    onDone: ({ beginImpersonation }) => onBegun({ ...beginImpersonation, application: form.values.application }),
    onClose,
  });
  const { clientId, organizationId, reason } = form.values;
  const isComplete = clientId !== null && reason.trim() !== '';
  const choose = (id: string | null) =>
    form.set({ clientId: id, application: applications?.find(({ value }) => value === id)?.label ?? '' });
  return (
    <DialogForm {...form.props} verb={t('Begin')} disabled={!isComplete} graphql={undefined}>
      <Text>
        {project.impersonationNotices
          ? t('You use one application as this user for 15 minutes. The user gets a mail and can end it.')
          : t('You use one application as this user for 15 minutes. The user can end it on the account page.')}
      </Text>
      <SearchSelect
        label={t('Application')}
        kind="application"
        options={applications}
        value={clientId}
        onChange={choose}
        onSearch={setSearch}
      />
      {organizations !== undefined && organizations.length > 0 && (
        <SearchSelect
          label={t('Organization (optional)')}
          kind={[t('No matching organizations'), t('No organizations yet')]}
          options={organizations}
          value={organizationId}
          onChange={(id) => form.set({ organizationId: id })}
          onSearch={() => undefined}
        />
      )}
      <Textarea
        label={t('Reason')}
        description={t('Recorded in the event. The user sees it.')}
        maxLength={500}
        autosize
        minRows={2}
        {...form.field('reason')}
      />
    </DialogForm>
  );
}
