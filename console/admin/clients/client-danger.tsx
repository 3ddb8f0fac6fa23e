import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useMutation } from '../api.ts';
import { DeleteClient, UpdateClient } from '../generated/operations.ts';
import { useProjectPath } from '../projects/project.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Confirm } from '../ui/feedback/confirm.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { ClientPartProps } from './client-part.ts';
import { useClientForm } from './use-client-form.ts';

type Asking = 'disable' | 'delete' | undefined;

/** Disable (reversible) and delete (irreversible). */
export function ClientDanger({ client, mayChange }: ClientPartProps) {
  const [asking, setAsking] = useState<Asking>();
  const [remove, removing, failure, reset] = useMutation(DeleteClient, []);
  const form = useClientForm(client);
  const navigate = useNavigate();
  const path = useProjectPath();
  const keys = client.apiKeys.filter(({ revokedAt }) => revokedAt === null).length;
  const close = () => {
    setAsking(undefined);
    reset();
    form.clear();
  };
  if (client.builtIn === 'CONSOLE') {
    return (
      <Alert title="This is the console itself">
        Sign-in to the console needs it: it cannot be disabled or deleted.
      </Alert>
    );
  }
  return (
    <>
      <Section
        title={client.disabled ? 'Switch on' : 'Switch off'}
        lead={
          client.disabled
            ? 'Disabled: sign-ins and keys are refused.'
            : 'Refuses sign-ins and keys until switched on again.'
        }
        actions={
          mayChange &&
          (client.disabled ? (
            <Button onClick={() => void form.save({ disabled: false })} loading={form.busy}>
              Switch on
            </Button>
          ) : (
            <Button variant="default" onClick={() => setAsking('disable')}>
              Switch off
            </Button>
          ))
        }
      />
      <Section
        title="Delete"
        tone="danger"
        lead="Deletes its client ID, keys, devices and codes permanently. Users stay."
        actions={
          mayChange && (
            <Button color="red" onClick={() => setAsking('delete')}>
              Delete application
            </Button>
          )
        }
      />
      <Confirm
        opened={asking === 'disable'}
        title={`Switch ${client.name} off?`}
        verb="Switch off"
        busy={form.busy}
        failure={form.failure}
        graphql={request(UpdateClient, { input: { id: client.id, expectedVersion: client.version, disabled: true } })}
        onClose={close}
        onConfirm={async () => {
          if (await form.save({ disabled: true })) close();
        }}
      >
        <p>Sign-ins and code exchanges of this application are refused at once. Other sessions stay.</p>
      </Confirm>
      <Confirm
        opened={asking === 'delete'}
        title={`Delete ${client.name}?`}
        verb="Delete application"
        name={client.name}
        busy={removing}
        failure={failure}
        graphql={request(DeleteClient, { id: client.id })}
        onClose={close}
        onConfirm={async () => {
          const outcome = await remove({ id: client.id });
          if (!outcome.data) return;
          toast(`${client.name} deleted`);
          void navigate(path('applications'), { replace: true });
        }}
      >
        <p>This cannot be undone. You will lose:</p>
        <ul>
          <li>
            the client ID <code>{client.id}</code>, which can never be had again
          </li>
          <li>
            {keys} live API key{keys === 1 ? '' : 's'}
          </li>
          <li>devices registered with it: users verify their address again elsewhere</li>
        </ul>
      </Confirm>
    </>
  );
}
