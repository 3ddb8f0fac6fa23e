import { Alert, Button, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { DomainsSection } from '../domains/domains-section.tsx';
import { DeleteProject, ProjectContents, Session } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
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
    useMemo(() => ({ name: project.name }), [project]),
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
      {project.builtIn !== 'CONSOLE' && <DomainsSection project={project} mayChange={mayChange} />}
      {mayChange && project.builtIn !== 'CONSOLE' && <ConfigurationSection project={project} />}
      {isOwner && <Danger project={project} />}
      <SaveBar form={form} labels={{ name: t('Name') }} describe={(name, values) => values[name]} />
    </Page>
  );
}

function Danger({ project }: { project: Project }) {
  const [asking, setAsking] = useState(false);
  const { data } = useQuery(ProjectContents, { id: project.id }, { pause: !asking });
  const navigate = useNavigate();
  const lost = data?.project?.contents;
  if (project.builtIn === 'CONSOLE') {
    return (
      <Alert title={t('This project cannot be deleted')}>{t('The admins of this instance sign in through it.')}</Alert>
    );
  }
  return (
    <Section
      title={t('Delete')}
      tone="danger"
      lead={t('Deletes all users, applications, sessions, tokens and groups permanently.')}
      actions={
        <Button color="red" onClick={() => setAsking(true)}>
          {t('Delete project')}
        </Button>
      }
    >
      <ConfirmMutation
        title={t('Delete {name}?', { name: project.name })}
        verb={t('Delete project')}
        name={project.name}
        operation={DeleteProject}
        variables={asking ? { input: { id: project.id, confirmName: project.name } } : undefined}
        invalidates={[Session]}
        done={t('{name} deleted', { name: project.name })}
        onDone={() => {
          forget(project.id);
          void navigate('/projects', { replace: true });
        }}
        onClose={() => setAsking(false)}
      >
        <p>{t('This cannot be undone. You will lose:')}</p>
        <ul aria-busy={!lost}>
          <li>
            {rich('<strong>{count}</strong> users, who can no longer sign in to anything here', {
              count: lost?.users ?? '…',
            })}
          </li>
          <li>
            {rich('<strong>{count}</strong> applications, with their client IDs and keys', {
              count: lost?.clients ?? '…',
            })}
          </li>
          <li>{rich('<strong>{count}</strong> live sessions', { count: lost?.sessions ?? '…' })}</li>
          <li>{rich('<strong>{count}</strong> live directory tokens', { count: lost?.scimTokens ?? '…' })}</li>
        </ul>
      </ConfirmMutation>
    </Section>
  );
}
