import { Button } from '@mantine/core';
import { useNavigate } from 'react-router';
import { DeleteConnection, SetConnectionState } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { atLeast } from '../ui/counted.ts';
import { FormError } from '../ui/feedback/errors.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { type Confirmation, useDialog } from '../ui/feedback/use-dialog.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { Connection, ConnectionPartProps } from './connection-part.ts';
import { stale } from './connection-state.tsx';
import { isComplete } from './settings/settings-values.ts';

const maxCounted = 1000;

/** Disable (reversible) and delete (irreversible). */
export function ConnectionDanger({ connection, mayChange }: ConnectionPartProps) {
  const enabling = useAction(SetConnectionState, stale, t('Connection enabled'));
  const [dialog, { confirm }] = useDialog();
  const navigate = useNavigate();
  const path = useProjectPath();
  const isEnabled = connection.state === 'ENABLED';
  const enable = () => void enabling.run({ input: { id: connection.id, state: 'ENABLED' } });
  const { organization } = connection;
  const list = organization ? `organizations/${organization.id}/connections` : 'connections';
  const onDone = () => void navigate(path(list), { replace: true });
  return (
    <>
      <Section
        title={isEnabled ? t('Disable') : t('Enable')}
        lead={
          isEnabled
            ? t('Takes it from the sign-in page until it is enabled again.')
            : t('The sign-in page does not offer it now.')
        }
        actions={
          mayChange &&
          (isEnabled ? (
            <SecondaryButton onClick={() => confirm(disabling(connection))}>{t('Disable connection')}</SecondaryButton>
          ) : (
            <Button onClick={enable} loading={enabling.busy} disabled={!isComplete(connection)}>
              {t('Enable connection')}
            </Button>
          ))
        }
      >
        <FormError failure={enabling.failure} />
      </Section>
      <Section
        title={t('Delete')}
        tone="danger"
        lead={t('Deletes the connection and its links to users permanently. Users stay.')}
        actions={
          mayChange && (
            <Button color="red" onClick={() => confirm({ ...deletion(connection), onDone })}>
              {t('Delete connection')}
            </Button>
          )
        }
      />
      {dialog}
    </>
  );
}

/** Users whose account at the provider is connected, for display. */
const usersOf = ({ identities }: Connection) => atLeast(identities, identities >= maxCounted);

const disabling = (connection: Connection): Confirmation => ({
  title: t('Disable {name}?', { name: connection.name }),
  effect: (
    <p>
      {rich(
        '<strong>{shown}</strong> {count, plural, one {user} other {users}} can no longer sign in by it, and sign-ins in progress are refused. Sessions stay.',
        { shown: usersOf(connection), count: connection.identities },
      )}
    </p>
  ),
  verb: t('Disable connection'),
  request: request(SetConnectionState, { input: { id: connection.id, state: 'DISABLED' } }),
  invalidates: stale,
  done: t('Connection disabled'),
});

const deletion = (connection: Connection): Confirmation => ({
  title: t('Delete {name}?', { name: connection.name }),
  effect: (
    <>
      <p>{t('This cannot be undone. You will lose:')}</p>
      <ul>
        <li>
          {rich(
            '<strong>{shown}</strong> {count, plural, one {link to a user} other {links to users}}; these users sign in otherwise, for example by a mail code',
            { shown: usersOf(connection), count: connection.identities },
          )}
        </li>
        <li>{t('its settings and the client secret')}</li>
      </ul>
    </>
  ),
  verb: t('Delete connection'),
  name: connection.name,
  request: request(DeleteConnection, { id: connection.id }),
  invalidates: stale,
  done: t('{name} deleted', { name: connection.name }),
});
