import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useCommand } from '../frame/use-command.ts';
import { ClientById, DeleteClient, UpdateClient } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { Section } from '../ui/layout/page.tsx';
import type { ClientPartProps } from './client-part.ts';
import { clientChange } from './use-client-form.ts';

/** Disable (reversible) and delete (irreversible). */
export function ClientDanger({ client, mayChange }: ClientPartProps) {
  const [asking, setAsking] = useState<'disable' | 'delete'>();
  const enabling = useAction(UpdateClient, [ClientById], t('Saved'));
  useCommand((command) => {
    if (mayChange && (command === 'disable' || command === 'delete')) setAsking(command);
  });
  const navigate = useNavigate();
  const path = useProjectPath();
  const keys = client.apiKeys.filter(({ revokedAt }) => revokedAt === null).length;
  if (client.builtIn === 'CONSOLE') {
    return (
      <Alert title={t('This is the console itself')}>
        {t('Sign-in to the console needs it: it cannot be disabled or deleted.')}
      </Alert>
    );
  }
  return (
    <>
      <Section
        title={client.disabled ? t('Enable') : t('Disable')}
        lead={
          client.disabled
            ? t('Disabled: sign-ins and keys are refused.')
            : t('Refuses sign-ins and keys until enabled again.')
        }
        actions={
          mayChange &&
          (client.disabled ? (
            <Button
              onClick={() => void enabling.run(clientChange(client, { disabled: false }))}
              loading={enabling.busy}
            >
              {t('Enable')}
            </Button>
          ) : (
            <SecondaryButton onClick={() => setAsking('disable')}>{t('Disable')}</SecondaryButton>
          ))
        }
      />
      <Section
        title={t('Delete')}
        tone="danger"
        lead={t('Deletes its client ID, keys, devices and codes permanently. Users stay.')}
        actions={
          mayChange && (
            <Button color="red" onClick={() => setAsking('delete')}>
              {t('Delete application')}
            </Button>
          )
        }
      />
      <ConfirmMutation
        title={t('Disable {name}?', { name: client.name })}
        verb={t('Disable')}
        operation={UpdateClient}
        variables={asking === 'disable' ? clientChange(client, { disabled: true }) : undefined}
        invalidates={[ClientById]}
        done={t('Saved')}
        onClose={() => setAsking(undefined)}
      >
        <p>{t('Sign-ins and code exchanges of this application are refused at once. Other sessions stay.')}</p>
      </ConfirmMutation>
      <ConfirmMutation
        title={t('Delete {name}?', { name: client.name })}
        verb={t('Delete application')}
        name={client.name}
        operation={DeleteClient}
        variables={asking === 'delete' ? { id: client.id } : undefined}
        invalidates={[]}
        done={t('{name} deleted', { name: client.name })}
        onDone={() => void navigate(path('applications'), { replace: true })}
        onClose={() => setAsking(undefined)}
      >
        <p>{t('This cannot be undone. You will lose:')}</p>
        <ul>
          <li>{rich('the client ID <code>{id}</code>, which cannot be restored', { id: client.id })}</li>
          <li>{t('{count, plural, one {# live API key} other {# live API keys}}', { count: keys })}</li>
          <li>{t('devices registered with it: users verify their address again elsewhere')}</li>
        </ul>
      </ConfirmMutation>
    </>
  );
}
