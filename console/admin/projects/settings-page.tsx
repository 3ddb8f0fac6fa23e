import { Alert, Button, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { DomainsSection } from '../domains/domains-section.tsx';
import { DeleteProject, ProjectContents, Session } from '../generated/operations.ts';
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
    <Page title="Settings" lead={`Name, domains and deletion of ${project.name}`} narrow>
      {!mayChange && <ViewerNotice project={project} />}
      <Section title="Basics">
        <TextInput label="Name" description="Shown at sign-in." maw="28rem" maxLength={200} {...form.field('name')} />
        <CopyField
          label="Project ID"
          value={project.id}
          hint={`Part of its SCIM address. Created ${exactly(project.createdAt)}.`}
        />
      </Section>
      {project.builtIn !== 'CONSOLE' && <DomainsSection project={project} mayChange={mayChange} />}
      {mayChange && project.builtIn !== 'CONSOLE' && <ConfigurationSection project={project} />}
      {isOwner && <Danger project={project} />}
      <SaveBar form={form} labels={{ name: 'Name' }} describe={(name, values) => values[name]} />
    </Page>
  );
}

function Danger({ project }: { project: Project }) {
  const [asking, setAsking] = useState(false);
  const { data } = useQuery(ProjectContents, { id: project.id }, { pause: !asking });
  const navigate = useNavigate();
  const lost = data?.project?.contents;
  if (project.builtIn === 'CONSOLE') {
    return <Alert title="This project cannot be deleted">The admins of this instance sign in through it.</Alert>;
  }
  return (
    <Section
      title="Delete"
      tone="danger"
      lead="Deletes all users, applications, sessions, tokens and groups permanently."
      actions={
        <Button color="red" onClick={() => setAsking(true)}>
          Delete project
        </Button>
      }
    >
      <ConfirmMutation
        title={`Delete ${project.name}?`}
        verb="Delete project"
        name={project.name}
        operation={DeleteProject}
        variables={asking ? { input: { id: project.id, confirmName: project.name } } : undefined}
        invalidates={[Session]}
        done={`${project.name} deleted`}
        onDone={() => {
          forget(project.id);
          void navigate('/projects', { replace: true });
        }}
        onClose={() => setAsking(false)}
      >
        <p>This cannot be undone. You will lose:</p>
        <ul aria-busy={!lost}>
          <li>
            <strong>{lost?.users ?? '…'}</strong> users, who can no longer sign in to anything here
          </li>
          <li>
            <strong>{lost?.clients ?? '…'}</strong> applications, with their client IDs and keys
          </li>
          <li>
            <strong>{lost?.sessions ?? '…'}</strong> live sessions
          </li>
          <li>
            <strong>{lost?.scimTokens ?? '…'}</strong> live directory tokens
          </li>
        </ul>
      </ConfirmMutation>
    </Section>
  );
}
