import { Alert, Button, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { useAccess } from '../access.tsx';
import { useMutation, useQuery } from '../api.ts';
import { DeleteProject, ProjectContents, Session } from '../generated/operations.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { useDraft } from '../ui/forms/draft.ts';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { exactly } from '../ui/time.tsx';
import { type Project, useProject } from './project.tsx';
import { forget } from './recent.ts';
import styles from './settings-page.module.css';
import { useProjectForm } from './use-project-form.ts';

export function Component() {
  const project = useProject();
  const { mayChange, isOwner } = useAccess(project.id);
  const saved = useMemo(() => ({ name: project.name }), [project]);
  const { values, set, changed, edits, settle, reset } = useDraft(saved);
  const { save, busy, failure, faultOf, clear } = useProjectForm(project);
  return (
    <Page title="Settings" lead={`Name and deletion of ${project.name}`} narrow>
      {!mayChange && <ViewerNotice project={project} />}
      <Section title="Basics">
        <TextInput
          className={styles.name}
          label="Name"
          description="Shown at sign-in."
          value={values.name}
          disabled={!mayChange}
          maxLength={200}
          error={faultOf('name')}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
        <CopyField
          label="Project ID"
          value={project.id}
          hint={`Part of its SCIM address. Created ${exactly(project.createdAt)}.`}
        />
      </Section>
      {isOwner && <Danger project={project} />}
      <SaveBar
        changes={changed.map((name) => ({ label: 'Name', before: saved[name], after: values[name] }))}
        busy={busy}
        failure={failure}
        onSave={async () => {
          if (await save(edits)) settle(edits);
        }}
        onDiscard={() => {
          reset();
          clear();
        }}
      />
    </Page>
  );
}

function Danger({ project }: { project: Project }) {
  const [asking, setAsking] = useState(false);
  const [remove, busy, failure, reset] = useMutation(DeleteProject, [Session]);
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
      <Confirm
        opened={asking}
        title={`Delete ${project.name}?`}
        verb="Delete project"
        name={project.name}
        busy={busy}
        failure={failure}
        onClose={() => {
          setAsking(false);
          reset();
        }}
        onConfirm={async () => {
          const outcome = await remove({ input: { id: project.id, confirmName: project.name } });
          if (!outcome.data) return;
          forget(project.id);
          toast(`${project.name} deleted`);
          void navigate('/projects', { replace: true });
        }}
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
      </Confirm>
    </Section>
  );
}
