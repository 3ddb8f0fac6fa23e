import { Badge } from '@mantine/core';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { exactly, Time } from '../time.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { Filter, filterOptions } from './list-bar.tsx';

/** A delivery to an endpoint of an application or of a webhook. */
interface Delivery {
  state: DeliveryState;
  attempts: readonly Attempt[];
  nextAttemptAt?: string | null;
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

export function DeliveryBadge({ state }: { state: DeliveryState }) {
  const [tone, name] = states[state];
  return (
    <span>
      <Badge color={tone}>{name}</Badge>
    </span>
  );
}

/** The number of attempts, the last response and the time of the next attempt. @param untried text without attempts */
export function DeliveryProgress({ delivery, untried }: { delivery: Delivery; untried: string }) {
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
