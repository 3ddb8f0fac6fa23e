import { Alert, Button } from '@mantine/core';
import { useNavigate } from 'react-router';
import { useCommand } from '../frame/use-command.ts';
import { ClientById, DeleteClient, UpdateClient } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { Client, ClientPartProps } from './client-part.ts';
import { clientChange } from './use-client-form.ts';

/** Disable (reversible) and delete (irreversible). */
export function ClientDanger({ client, mayChange }: ClientPartProps) {
  const enabling = useAction(UpdateClient, [ClientById], t('Saved'));
  const [dialog, { confirm }] = useDialog();
  const navigate = useNavigate();
  const path = useProjectPath();
  const disable = () => confirm(disabling(client));
  const remove = () =>
    confirm({ ...deletion(client), onDone: () => void navigate(path('applications'), { replace: true }) });
  useCommand((command) => {
    if (mayChange && command === 'disable') disable();
    if (mayChange && command === 'delete') remove();
  });
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
            <SecondaryButton onClick={disable}>{t('Disable')}</SecondaryButton>
          ))
        }
      />
      <Section
        title={t('Delete')}
        tone="danger"
        lead={t('Deletes its client ID, keys, devices and codes permanently. Users stay.')}
        actions={
          mayChange && (
            <Button color="red" onClick={remove}>
              {t('Delete application')}
            </Button>
          )
        }
      />
      {dialog}
    </>
  );
}

const disabling = (client: Client): Confirmation => ({
  title: t('Disable {name}?', { name: client.name }),
  effect: <p>{t('Sign-ins and code exchanges of this application are refused immediately. Other sessions stay.')}</p>,
  verb: t('Disable'),
  request: request(UpdateClient, clientChange(client, { disabled: true })),
  invalidates: [ClientById],
  done: t('Saved'),
});

function deletion({ id, name, apiKeys }: Client): Confirmation {
  const keys = apiKeys.filter(({ revokedAt }) => revokedAt === null).length;
  return {
    title: t('Delete {name}?', { name }),
    effect: (
      <>
        <p>{t('This cannot be undone. You will lose:')}</p>
        <ul>
          <li>{rich('the client ID <code>{id}</code>, which cannot be restored', { id })}</li>
          <li>{t('{count, plural, one {# live API key} other {# live API keys}}', { count: keys })}</li>
          <li>{t('devices registered with it: users verify their address again elsewhere')}</li>
        </ul>
      </>
    ),
    verb: t('Delete application'),
    name,
    request: request(DeleteClient, { id }),
    invalidates: [],
    done: t('{name} deleted', { name }),
  };
}
