import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '../api.ts';
import {
  AuditEvents,
  ReplayFailedWebhookDeliveries,
  ReplayWebhookDelivery,
  WebhookById,
  WebhookDeliveries,
  type WebhookDeliveryRowFragment,
  WebhookPayload,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { SecondaryButton } from '../ui/buttons.tsx';
import { Code } from '../ui/code/code.tsx';
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
import { ListBar, Pager, useListParams } from '../ui/lists/list-bar.tsx';
import type { Webhook } from './webhook-state.tsx';

type Delivery = WebhookDeliveryRowFragment;
type Attempt = Delivery['attempts'][number];

const stale = [WebhookDeliveries, WebhookById, AuditEvents];

/** The deliveries of a webhook, with attempts, body and replay. */
export function WebhookDeliveryList({ webhook, mayChange }: { webhook: Webhook; mayChange: boolean }) {
  const { get } = useListParams();
  const [state, after] = [get('state'), get('after')];
  const filter = state && isDeliveryState(state) ? { state } : {};
  const { data, failure, reload } = useQuery(
    WebhookDeliveries,
    { webhookId: webhook.id, filter, first: 25, after: after ?? null },
    { keep: true, ...(after ? {} : { everySeconds: 5 }) },
  );
  const replay = useAction(ReplayFailedWebhookDeliveries, stale, ({ replayFailedWebhookDeliveries: count }) =>
    t('Queued again: {count, plural, one {# event} other {# events}}', { count }),
  );
  const page = data?.webhookDeliveries;
  return (
    <Section
      flush
      title={t('Deliveries')}
      lead={t('Newest first. Delivered ones are kept for 7 days, failed ones for 30.')}
      actions={
        mayChange &&
        webhook.failed > 0 && (
          <SecondaryButton
            loading={replay.busy}
            disabled={webhook.disabledReason !== null}
            onClick={() => void replay.run({ webhookId: webhook.id })}
          >
            {t('Replay failed')}
          </SecondaryButton>
        )
      }
    >
      <FormError failure={replay.failure} />
      <ListBar>
        <DeliveryStateFilter />
      </ListBar>
      {failure && !page ? (
        <LoadError failure={failure} subject={t('the list of deliveries')} retry={reload} />
      ) : page?.edges.length === 0 ? (
        <Empty icon="external" title={state ? t('No matches') : t('No deliveries yet')}>
          {state ? t('No delivery has this status.') : t('Send a test event to see whether the receiver accepts it.')}
        </Empty>
      ) : (
        <Disclosures
          rows={page?.edges.map(({ node }) => node)}
          {...deliveryColumns}
          summary={(delivery) => (
            <DeliverySummary delivery={delivery} about={<strong>{delivery.type}</strong>} untried={t('Not sent yet')} />
          )}
          details={(delivery) => <Details delivery={delivery} webhook={webhook} mayChange={mayChange} />}
        />
      )}
      <Pager pageInfo={page?.pageInfo} />
    </Section>
  );
}

interface DetailsProps {
  delivery: Delivery;
  webhook: Webhook;
  mayChange: boolean;
}

function Details({ delivery, webhook, mayChange }: DetailsProps) {
  const replay = useAction(ReplayWebhookDelivery, stale, t('Delivery queued'));
  const [showsBody, setShowsBody] = useState(false);
  const { id, eventId, state, attempts } = delivery;
  const advice = state === 'DELIVERED' ? undefined : adviceOn(attempts.at(-1));
  return (
    <>
      <p>
        webhook-id <code>{eventId}</code>
      </p>
      <Attempts attempts={attempts} />
      {advice && <Text c="dimmed">{advice}</Text>}
      {showsBody && <Body id={id} />}
      <Group gap="xs">
        {mayChange && (
          <Button
            size="xs"
            loading={replay.busy}
            disabled={webhook.disabledReason !== null}
            onClick={() => void replay.run({ id })}
          >
            {state === 'PENDING' ? t('Retry now') : t('Replay')}
          </Button>
        )}
        <SecondaryButton size="xs" onClick={() => setShowsBody(!showsBody)} aria-expanded={showsBody}>
          {showsBody ? t('Hide body') : t('Show body')}
        </SecondaryButton>
      </Group>
      <FormError failure={replay.failure} />
    </>
  );
}

function Body({ id }: { id: string }) {
  const { data, failure, reload } = useQuery(WebhookPayload, { id });
  if (failure) return <LoadError failure={failure} subject={t('the body')} retry={reload} />;
  if (!data) return null;
  const { payload } = data.webhookDelivery;
  return payload ? (
    <Code label={t('Body')} code={JSON.stringify(payload, null, 2)} />
  ) : (
    <p>{t('The event no longer exists.')}</p>
  );
}

/** Advice for the operator of the receiver about the last response. */
function adviceOn(last: Attempt | undefined): string | undefined {
  if (!last) return undefined;
  const { status } = last;
  if (status == null) return t('No response within 10 seconds. Accept the event first, then process it.');
  if (status === 401 || status === 403) return t('The endpoint requires authentication. Verify the signature instead.');
  if (status === 404 || status === 405) return t('The endpoint does not accept POST. Check the address.');
  if (status >= 300 && status < 400) return t('Redirects are not followed. Enter the target address.');
  return t('Only 200 to 299 count as delivered.');
}
