import { Badge, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { exactly, Time } from '../time.tsx';
import { type Column, DataTable } from './data-table.tsx';
import styles from './deliveries.module.css';
import { Filter, filterOptions } from './list-bar.tsx';

/** A delivery to an endpoint of an application or of a webhook. */
interface Delivery {
  state: DeliveryState;
  attempts: readonly Attempt[];
  nextAttemptAt?: string | null;
  createdAt: string;
}

type DeliveryState = keyof typeof states;

interface Attempt {
  at: string;
  status?: number | null;
  error?: string | null;
  durationMs: number;
}

const states = {
  PENDING: ['note', t('Pending')],
  DELIVERED: ['good', t('Delivered')],
  FAILED: ['bad', t('Failed')],
} as const;

export const isDeliveryState = (text: string): text is DeliveryState => Object.hasOwn(states, text);

export function DeliveryStateFilter() {
  const names = Object.fromEntries(Object.entries(states).map(([state, [, name]]) => [state, name]));
  return <Filter name="state" label={t('Status')} options={filterOptions(t('Any status'), names)} />;
}

function DeliveryBadge({ state }: { state: DeliveryState }) {
  const [tone, name] = states[state];
  return (
    <span>
      <Badge color={tone}>{name}</Badge>
    </span>
  );
}

/** CSS grid columns of {@link DeliverySummary}. */
export const deliveryColumns = {
  columns: '8.5rem minmax(0, 1fr) minmax(0, 1fr) 9rem',
  narrowColumns: 'minmax(0, 1fr) auto',
} as const;

/** A row of a list of deliveries. @param about its content @param untried text without attempts */
export function DeliverySummary(props: { delivery: Delivery; about: ReactNode; untried: string }) {
  const { delivery, about, untried } = props;
  return (
    <>
      <DeliveryBadge state={delivery.state} />
      <span className={styles.summary}>{about}</span>
      <Text span c="dimmed" className={styles.summary}>
        <DeliveryProgress delivery={delivery} untried={untried} />
      </Text>
      <span className={styles.time}>
        <Time at={delivery.createdAt} />
      </span>
    </>
  );
}

/** The number of attempts, the last response and the time of the next attempt. @param untried text without attempts */
function DeliveryProgress({ delivery, untried }: { delivery: Delivery; untried: string }) {
  const { state, attempts, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  if (!last) return untried;
  return (
    <>
      {t('{count, plural, one {# attempt} other {# attempts}}, last response {status}', {
        count: attempts.length,
        status: last.status ?? t('none'),
      })}
      {state === 'PENDING' && (
        <>
          {', '}
          {rich('next try <time></time>', { time: () => <Time at={nextAttemptAt} fallback={t('soon')} /> })}
        </>
      )}
    </>
  );
}

const attemptColumns: Column<Attempt>[] = [
  { header: t('Attempt'), isName: true, cell: ({ at }) => exactly(at) },
  { header: t('Response'), width: '50%', cell: ({ status, error }) => status ?? error },
  { header: t('Duration'), cell: ({ durationMs }) => t('{time} ms', { time: durationMs }) },
];

/** The attempts of a delivery; nothing if there are none. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return null;
  return <DataTable dense label={t('Attempts')} columns={attemptColumns} rows={attempts} keyOf={({ at }) => at} />;
}
