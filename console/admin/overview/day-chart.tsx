import { Table, Tooltip } from '@mantine/core';
import { Link } from 'react-router';
import styles from './day-chart.module.css';
import { change } from './days.ts';

export interface Series {
  label: string;
  tone: 'strong' | 'soft' | 'bad';
  /** One value per day. */
  values: readonly number[];
}

interface DayChartProps {
  title: string;
  /** `2026-03-01`, oldest first. */
  days: readonly string[];
  /** Stacked bottom to top. */
  series: readonly Series[];
  /** Total to display if it is not the sum. */
  total?: number;
  /** Shown beside the total. */
  note?: string;
  /** Total of the previous period, for comparison. */
  before: number;
  link: { to: string; label: string };
}

const count = new Intl.NumberFormat('en-GB');
const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayName = (day: string) => short.format(new Date(day));

/** Bar chart by day, with the data as a table and a link to the events. */
export function DayChart({ title, days, series, total, note, before, link }: DayChartProps) {
  const sums = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const all = total ?? sums.reduce((sum, value) => sum + value, 0);
  const top = Math.max(...sums, 1);
  const compared = change(all, before);
  const [first, last] = [days[0] ?? '', days.at(-1) ?? ''];
  return (
    <figure className={styles.chart}>
      <figcaption>
        <span className={styles.title}>{title}</span>
        <strong>{count.format(all)}</strong>
        <span className={styles.compared}>{compared ?? (note ? '' : 'in 14 days')}</span>
        {note && <span className={styles.note}>{note}</span>}
      </figcaption>
      <div className={styles.bars} aria-hidden="true">
        {days.map((day, index) => (
          <Tooltip
            key={day}
            label={`${index === days.length - 1 ? 'Today' : dayName(day)}: ${series.map(({ label, values }) => `${count.format(values[index] ?? 0)} ${label}`).join(', ')}`}
          >
            <div className={styles.day}>
              {series
                .map(({ tone, label, values }) => (
                  <i key={label} data-tone={tone} style={{ height: `${((values[index] ?? 0) / top) * 100}%` }} />
                ))
                .reverse()}
            </div>
          </Tooltip>
        ))}
      </div>
      <div className={styles.axis} aria-hidden="true">
        <span>{dayName(first)}</span>
        <span>today</span>
      </div>
      {series.length > 1 && (
        <ul className={styles.legend}>
          {series.map(({ label, tone }) => (
            <li key={label}>
              <i data-tone={tone} aria-hidden="true" /> {label}
            </li>
          ))}
        </ul>
      )}
      <div className={styles.foot}>
        <details>
          <summary>As a table</summary>
          <Table>
            <Table.Caption>
              {title}, {dayName(first)} to {dayName(last)}
            </Table.Caption>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Day</Table.Th>
                {series.map(({ label }) => (
                  <Table.Th key={label} scope="col">
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {days
                .map((day, index) => (
                  <Table.Tr key={day}>
                    <Table.Th scope="row">{dayName(day)}</Table.Th>
                    {series.map(({ label, values }) => (
                      <Table.Td key={label}>{count.format(values[index] ?? 0)}</Table.Td>
                    ))}
                  </Table.Tr>
                ))
                .reverse()}
            </Table.Tbody>
          </Table>
        </details>
        <Link to={link.to}>{link.label}</Link>
      </div>
    </figure>
  );
}
