import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '../api.ts';
import {
  LogoutDeliveries,
  type LogoutDeliveryFilter,
  type LogoutDeliveryRowFragment,
  LogoutReceivers,
  RetryLogoutDelivery,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProjectPath } from '../projects/project.tsx';
import { LinkButton, SecondaryButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { Section } from '../ui/layout/page.tsx';
import {
  Attempts,
  DeliveryStateFilter,
  DeliverySummary,
  deliveryColumns,
  isDeliveryState,
} from '../ui/lists/deliveries.tsx';
import { Disclosures } from '../ui/lists/disclosures.tsx';
import { Filter, filterOptions, ListBar, Pager, useListParams } from '../ui/lists/list-bar.tsx';
import type { Receiver } from './receivers.tsx';

type Delivery = LogoutDeliveryRowFragment;
type Attempt = Delivery['attempts'][number];

interface DeliveriesProps {
  projectId: string;
  receivers: readonly Receiver[] | undefined;
  mayChange: boolean;
}

/** Logout tokens with their delivery attempts and responses. */
export function Deliveries({ projectId, receivers, mayChange }: DeliveriesProps) {
  const { get, set } = useListParams();
  const [clientId, state, userId, after] = [get('client'), get('state'), get('user'), get('after')];
  const filter: LogoutDeliveryFilter = {
    ...(clientId ? { clientId } : {}),
    ...(state && isDeliveryState(state) ? { state } : {}),
    ...(userId ? { userId } : {}),
  };
  const { data, failure, reload } = useQuery(
    LogoutDeliveries,
    { projectId, filter, first: 25, after: after ?? null },
    { keep: true, ...(after ? {} : { everySeconds: 5 }) },
  );
  const page = data?.logoutDeliveries;
  const isFiltered = Object.keys(filter).length > 0;
  const removeFilters = () => set({ client: undefined, state: undefined, user: undefined });
  return (
    <Section flush title={t('Deliveries')} lead={t('Newest first; completed deliveries are kept for 30 days.')}>
      <ListBar>
        <Filter
          name="client"
          label={t('Application')}
          options={filterOptions(
            t('All applications'),
            Object.fromEntries((receivers ?? []).map(({ client }) => [client.id, client.name])),
          )}
        />
        <DeliveryStateFilter />
        {userId && (
          <SecondaryButton size="xs" onClick={() => set({ user: undefined })}>
            {t('Show all users')}
          </SecondaryButton>
        )}
      </ListBar>
      {failure && !page ? (
        <LoadError failure={failure} subject={t('the list of deliveries')} retry={reload} />
      ) : page?.edges.length === 0 ? (
        <Empty
          icon="external"
          title={isFiltered ? t('No matches') : t('No logouts yet')}
          action={isFiltered && <SecondaryButton onClick={removeFilters}>{t('Clear filters')}</SecondaryButton>}
        >
          {isFiltered
            ? t('No delivery matches these filters.')
            : t('Deliveries appear here within seconds of a logout.')}
        </Empty>
      ) : (
        <Disclosures
          rows={page?.edges.map(({ node }) => node)}
          {...deliveryColumns}
          summary={(delivery) => (
            <DeliverySummary delivery={delivery} about={<About delivery={delivery} />} untried={t('Not tried yet')} />
          )}
          details={(delivery) => <Details delivery={delivery} mayChange={mayChange} />}
        />
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}

/** The application and the user of a logout. */
function About({ delivery: { client, user } }: { delivery: Delivery }) {
  return rich('<strong>{client}</strong> about {user}', {
    client: client.name,
    user: user ? (user.displayName ?? user.userName) : t('an erased user'),
  });
}

function Details({ delivery, mayChange }: { delivery: Delivery; mayChange: boolean }) {
  const path = useProjectPath();
  const retry = useAction(RetryLogoutDelivery, [LogoutDeliveries, LogoutReceivers], t('Retry started'));
  const { id, state, sid, uri, user, attempts } = delivery;
  const advice = state === 'DELIVERED' ? undefined : adviceOn(attempts.at(-1));
  return (
    <>
      <p>
        {sid ? t('One session ended (sid in the token).') : t('All sessions of this user ended (no sid).')}{' '}
        {rich('Sent to <code>{uri}</code>', { uri })}
      </p>
      <Attempts attempts={attempts} />
      {advice && <Text c="dimmed">{advice}</Text>}
      <Group gap="xs">
        {mayChange && state !== 'DELIVERED' && (
          <Button size="xs" loading={retry.busy} onClick={() => void retry.run({ id })}>
            {t('Retry now')}
          </Button>
        )}
        {user && (
          <LinkButton to={path(`users/${user.id}`)} size="xs">
            {t('Open the user')}
          </LinkButton>
        )}
        <LinkButton to={`${path('events')}?client=${delivery.client.id}`} size="xs">
          {t('Events of this application')}
        </LinkButton>
      </Group>
      <FormError failure={retry.failure} />
    </>
  );
}

/** Advice for the receiver's operator about the last response. */
function adviceOn(last: Attempt | undefined): string | undefined {
  if (!last) return undefined;
  const { status } = last;
  if (status == null) return t('No response. Check that the URI is right and reachable from this server.');
  if (status === 400)
    return t(
      'The application rejected the token permanently. Check its log; often it expects another typ (Tokens & logout).',
    );
  if (status === 401 || status === 403)
    return t('The endpoint requires authentication. It must be public; the token is signed.');
  if (status === 404 || status === 405)
    return t('The endpoint does not accept POST. Check the back-channel logout URI.');
  if (status >= 300 && status < 400) return t('Redirects are not followed. Enter the target URI.');
  if (status >= 500) return t('The application failed. Retries happen automatically, up to 10 times.');
  return t('Only 200 and 204 count as delivered.');
}
