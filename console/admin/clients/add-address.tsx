import { Text } from '@mantine/core';
import { useState } from 'react';
import { useAccess } from '../access.tsx';
import { useMutation, useQuery } from '../api.ts';
import type { AuditEvent } from '../audit/event-text.ts';
import { ClientById, UpdateClient } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { AddressCode } from '../ui/breakable.tsx';
import { AddButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { Question } from '../ui/feedback/confirm.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { clientChange } from './use-client-form.ts';

/** The list of addresses in which each event of a refusal found no match. */
const lists = {
  'authorization.refused': 'redirectUris',
  'logout.address_refused': 'postLogoutRedirectUris',
} as const;

/** Offers to register the address of a refused request. Empty for other events, viewers and invalid addresses. */
export function AddAddress({ event: { type, detail, client, project } }: { event: AuditEvent }) {
  const { mayChange } = useAccess(project?.id);
  const [dialog, { open }] = useDialog();
  const [isAdded, setAdded] = useState(false);
  const list = Object.hasOwn(lists, type) ? lists[type as keyof typeof lists] : undefined;
  const uri = detail?.['redirectUri'];
  if (isAdded) return <Text size="sm">{t('It is registered already.')}</Text>;
  if (!mayChange || !client || !list || typeof uri !== 'string' || !isOffered(uri)) return null;
  const show = () =>
    open(t('Add this address to {name}?', { name: client.name }), (close) => (
      <AddressQuestion {...{ clientId: client.id, list, uri, onAdded: () => setAdded(true), onClose: close }} />
    ));
  return (
    <>
      <AddButton variant="default" size="xs" mt="xs" w="fit-content" onClick={show}>
        {t('Add this address')}
      </AddButton>
      {dialog}
    </>
  );
}

/**
 * Whether the event has the whole address, not cut with an ellipsis, and its host has no look-alike or escaped
 * characters. The server decides whether it can be registered.
 */
const isOffered = (uri: string): boolean =>
  /^(?:https:\/\/[a-z0-9._-]+|https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d+)?(?:[/?][^#*…]*)?$/.test(uri);

interface AddressQuestionProps {
  clientId: string;
  list: (typeof lists)[keyof typeof lists];
  uri: string;
  onAdded(): void;
  onClose(): void;
}

/** Asks before an address is registered: anyone can put one into an event. */
function AddressQuestion({ clientId, list, uri, onAdded, onClose }: AddressQuestionProps) {
  const { data, failure, reload } = useQuery(ClientById, { id: clientId });
  const [update, busy, refused] = useMutation(UpdateClient, [ClientById]);
  if (failure) return <LoadError failure={failure} subject={t('application')} retry={reload} />;
  const client = data?.client;
  if (!client) return <LinesSkeleton lines={2} />;
  if (client[list].includes(uri)) return <p>{t('It is registered already.')}</p>;
  const variables = clientChange(client, { [list]: [...client[list], uri] });
  const add = async () => {
    if (!(await update(variables)).data) return;
    toast(t('Address added'));
    onClose();
    onAdded();
  };
  return (
    <Question
      {...{ busy, failure: refused, onClose }}
      title=""
      isHarmless
      verb={t('Add address')}
      graphql={request(UpdateClient, variables)}
      onConfirm={() => void add()}
    >
      <p>{list === 'redirectUris' ? t('Redirect URI') : t('Post-logout redirect URI')}</p>
      <AddressCode text={uri} />
      {client[list].length > 0 && (
        <>
          <p>{t('Registered')}</p>
          <ul>
            {client[list].map((one) => (
              <li key={one}>
                <AddressCode text={one} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        {rich('Anyone can send a request with any address. Add it only if <strong>{host}</strong> is yours.', {
          host: new URL(uri).host,
        })}{' '}
        {list === 'redirectUris' && t('Users are redirected there with a code that signs them in.')}
      </p>
    </Question>
  );
}
