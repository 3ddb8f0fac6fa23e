import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useMutation } from '../api.ts';
import { useCommand } from '../frame/use-command.ts';
import { ClientById, DeleteClient, UpdateClient } from '../generated/operations.ts';
import { useProjectPath } from '../projects/project.tsx';
import { counted } from '../ui/counted.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { ClientPartProps } from './client-part.ts';
import { clientChange } from './use-client-form.ts';

/** Disable (reversible) and delete (irreversible). */
export function ClientDanger({ client, mayChange }: ClientPartProps) {
  const [asking, setAsking] = useState<'disable' | 'delete'>();
  const [update, busy] = useMutation(UpdateClient, [ClientById]);
  useCommand((command) => {
    if (mayChange && (command === 'disable' || command === 'delete')) setAsking(command);
  });
  const navigate = useNavigate();
  const path = useProjectPath();
  const keys = client.apiKeys.filter(({ revokedAt }) => revokedAt === null).length;
  const switchOn = async () => {
    const outcome = await update(clientChange(client, { disabled: false }));
    if (outcome.data) toast('Saved');
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
            <Button onClick={() => void switchOn()} loading={busy}>
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
      <ConfirmMutation
        title={`Switch ${client.name} off?`}
        verb="Switch off"
        operation={UpdateClient}
        variables={asking === 'disable' ? clientChange(client, { disabled: true }) : undefined}
        invalidates={[ClientById]}
        done="Saved"
        onClose={() => setAsking(undefined)}
      >
        <p>Sign-ins and code exchanges of this application are refused at once. Other sessions stay.</p>
      </ConfirmMutation>
      <ConfirmMutation
        title={`Delete ${client.name}?`}
        verb="Delete application"
        name={client.name}
        operation={DeleteClient}
        variables={asking === 'delete' ? { id: client.id } : undefined}
        invalidates={[]}
        done={`${client.name} deleted`}
        onDone={() => void navigate(path('applications'), { replace: true })}
        onClose={() => setAsking(undefined)}
      >
        <p>This cannot be undone. You will lose:</p>
        <ul>
          <li>
            the client ID <code>{client.id}</code>, which can never be had again
          </li>
          <li>{counted(keys, 'live API key')}</li>
          <li>devices registered with it: users verify their address again elsewhere</li>
        </ul>
      </ConfirmMutation>
    </>
  );
}
