import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { useRead } from '../api.ts';
import { Missing } from '../frame/root.tsx';
import { ClientById } from '../generated/operations.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { IdChip } from '../ui/copy.tsx';
import { Failed } from '../ui/failed.tsx';
import { Mark, Notice } from '../ui/mark.tsx';
import { Page } from '../ui/page.tsx';
import { PageSketch } from '../ui/sketch.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { ClientDanger } from './client-danger.tsx';
import { ClientKeys } from './client-keys.tsx';
import type { ClientPartProps } from './client-part.ts';
import { ClientQuickstart } from './client-quickstart.tsx';
import { ClientSettings } from './client-settings.tsx';
import { ClientTokens } from './client-tokens.tsx';

const parts: readonly { tab: string; label: string; part(props: ClientPartProps): ReactNode }[] = [
  { tab: '', label: 'Quickstart', part: ClientQuickstart },
  { tab: 'settings', label: 'Settings', part: ClientSettings },
  { tab: 'keys', label: 'Keys', part: ClientKeys },
  { tab: 'tokens', label: 'Tokens & logout', part: ClientTokens },
  { tab: 'danger', label: 'Danger', part: ClientDanger },
];

export function Component() {
  const { clientId = '', tab = '' } = useParams();
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const { data, failure, reload } = useRead(ClientById, { id: clientId });
  const client = data?.client?.id === clientId ? data.client : undefined;
  const chosen = parts.find((part) => part.tab === tab);
  if (!chosen) return <Missing />;
  if (!client) return failure ? <Failed failure={failure} what="application" retry={reload} /> : <PageSketch />;
  const Part = chosen.part;
  const at = (part: string) => path(`applications/${clientId}${part && `/${part}`}`);
  return (
    <Page
      title={client.name}
      back={{ to: path('applications'), label: 'Applications' }}
      marks={
        <>
          {client.disabled && <Mark tone="bad">Disabled</Mark>}
          {client.builtIn === 'CONSOLE' && <Mark>This console</Mark>}
          {client.builtIn === 'DEMO' && <Mark>Sample</Mark>}
          <IdChip id={client.id} what="client ID" />
        </>
      }
    >
      <Tabs
        label="Parts of the application"
        tabs={parts.map(({ tab: part, label }) => ({ to: at(part), label, end: part === '' }))}
      />
      {!mayChange && (
        <Notice tone="calm">
          You are a viewer of {project.name}: you can look at everything here, and change nothing.
        </Notice>
      )}
      <Part key={client.id} client={client} mayChange={mayChange} />
    </Page>
  );
}
