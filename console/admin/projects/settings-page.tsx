import { Alert, Button, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { useNavigate } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { DomainsSection } from '../domains/domains-section.tsx';
import { DeleteProject, ProjectContents, Session } from '../generated/operations.ts';
import { switches } from '../generated/switches.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { pick } from '../ui/forms/pick.ts';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { labelsOf, SwitchList } from '../ui/forms/switches.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { exactly } from '../ui/time.tsx';
import { ConfigurationSection } from './configuration-section.tsx';
import { type Project, useProject } from './project.tsx';
import { forget } from './recent.ts';
import { useProjectForm } from './use-project-form.ts';

export function Component() {
  const project = useProject();
  const { mayChange, isOwner } = useAccess(project.id);
  const form = useProjectForm(
    project,
    useMemo(() => pick(project, 'name', 'organizationsEnabled', 'impersonation', 'impersonationNotices'), [project]),
  );
  return (
    <Page title={t('Settings')} lead={t('Name, domains and deletion of {name}', { name: project.name })} narrow>
      {!mayChange && <ViewerNotice project={project} />}
      <Section title={t('Basics')}>
        <TextInput
          label={t('Name')}
          description={t('Shown at sign-in.')}
          maw="28rem"
          maxLength={200}
          {...form.field('name')}
        />
        <CopyField
          label={t('Project ID')}
          value={project.id}
          hint={t('Part of its SCIM address. Created {createdAt}.', { createdAt: exactly(project.createdAt) })}
        />
      </Section>
      {project.builtIn !== 'CONSOLE' && (
        <Section title={t('Organizations')} lead={t('For products whose customers are companies.')}>
          <SwitchList of={switches.Project.organizations} form={form} />
        </Section>
      )}
      {project.builtIn !== 'CONSOLE' && (
        <Section title={t('Support')} lead={t('Grant the right to impersonate on the Team page.')}>
          <SwitchList of={switches.Project.impersonation} form={form} />
        </Section>
      )}
      {project.builtIn !== 'CONSOLE' && <DomainsSection project={project} mayChange={mayChange} />}
      {mayChange && project.builtIn !== 'CONSOLE' && <ConfigurationSection project={project} />}
      {isOwner && <Danger project={project} />}
      <SaveBar
        form={form}
        labels={{
          name: t('Name'),
          ...labelsOf(switches.Project.organizations),
          ...labelsOf(switches.Project.impersonation),
        }}
        describe={(name, values) => (name === 'name' ? values.name : values[name] ? t('On') : t('Off'))}
        consequence={
          project.organizationsEnabled &&
          !form.values.organizationsEnabled &&
          t('No one can sign in to an organization any more. Memberships and roles stay.')
        }
      />
    </Page>
  );
}

function Danger({ project: { id, name, builtIn } }: { project: Project }) {
  const [dialog, { confirm }] = useDialog();
  const navigate = useNavigate();
  if (builtIn === 'CONSOLE') {
    return (
      <Alert title={t('This project cannot be deleted')}>{t('The admins of this instance sign in through it.')}</Alert>
    );
  }
  const remove = () =>
    confirm({
      title: t('Delete {name}?', { name }),
      effect: <Lost id={id} />,
      verb: t('Delete project'),
      name,
      request: request(DeleteProject, { input: { id, confirmName: name } }),
      invalidates: [Session],
      done: t('{name} deleted', { name }),
      onDone: () => {
        forget(id);
        void navigate('/projects', { replace: true });
      },
    });
  return (
    <Section
      title={t('Delete')}
      tone="danger"
      lead={t('Deletes all users, applications, sessions, tokens and groups permanently.')}
      actions={
        <Button color="red" onClick={remove}>
          {t('Delete project')}
        </Button>
      }
    >
      {dialog}
    </Section>
  );
}

/** Everything that is deleted with a project. */
function Lost({ id }: { id: string }) {
  const lost = useQuery(ProjectContents, { id }).data?.project?.contents;
  return (
    <>
      <p>{t('This cannot be undone. You will lose:')}</p>
      <ul aria-busy={!lost}>
        <li>
          {rich(
            '<strong>{shown}</strong> {count, plural, one {user} other {users}}, who can no longer sign in to anything here',
            { shown: lost?.users ?? '…', count: lost?.users ?? 0 },
          )}
        </li>
        <li>
          {rich(
            '<strong>{shown}</strong> {count, plural, one {application, with its client ID and keys} other {applications, with their client IDs and keys}}',
            { shown: lost?.clients ?? '…', count: lost?.clients ?? 0 },
          )}
        </li>
        <li>
          {rich('<strong>{shown}</strong> {count, plural, one {live session} other {live sessions}}', {
            shown: lost?.sessions ?? '…',
            count: lost?.sessions ?? 0,
          })}
        </li>
        <li>
          {rich('<strong>{shown}</strong> {count, plural, one {live directory token} other {live directory tokens}}', {
            shown: lost?.scimTokens ?? '…',
            count: lost?.scimTokens ?? 0,
          })}
        </li>
      </ul>
    </>
  );
}
