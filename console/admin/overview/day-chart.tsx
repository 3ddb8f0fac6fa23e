import { Tooltip } from '@mantine/core';
import { type CSSProperties, useState } from 'react';
import { Link } from 'react-router';
import { locale, t } from '../language/language.ts';
import { count } from '../ui/counted.ts';
import { type Column, DataTable } from '../ui/lists/data-table.tsx';
import styles from './day-chart.module.css';
import { change } from './days.ts';

export interface Series {
  label: string;
  tone: 'strong' | 'middle' | 'soft' | 'bad';
  /** One value per day. */
  values: readonly number[];
}

export interface DayChartProps {
  title: string;
  /** `2026-03-01`, oldest first. */
  days: readonly string[];
  /** Stacked bottom to top. */
  series: readonly Series[];
  /** Total to display if it is not the sum. */
  total?: number;
  /** Shown beside the total. */
  note: string;
  /** Total of the previous period, for comparison. */
  before: number;
  link: { to: string; label: string };
}

const short = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayName = (day: string) => short.format(new Date(day));

/** Bar chart by day, with the data as a table and a link to the events. */
export function DayChart({ title, days, series, total, note, before, link }: DayChartProps) {
  const sums = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const all = total ?? sums.reduce((sum, value) => sum + value, 0);
  const [isTableOpen, setTableOpen] = useState(false);
  return (
    <figure className={styles.chart}>
      <figcaption>
        <p>{title}</p>
        <div className={styles.ends}>
          <strong>{count.format(all)}</strong>
          <span className={styles.small}>{change(all, before)}</span>
        </div>
        <p className={styles.small}>{note}</p>
      </figcaption>
      <Bars days={days} series={series} top={Math.max(...sums, 1)} />
      <div className={`${styles.ends} ${styles.small}`} aria-hidden="true">
        <span>{dayName(days[0] ?? '')}</span>
        <span>{t('today so far')}</span>
      </div>
      {series.length > 1 && (
        <ul className={styles.legend}>
          {series.map(({ label, tone }) => (
            <li key={label}>
              <i style={{ background: `var(--bar-${tone})` }} aria-hidden="true" /> {label}
            </li>
          ))}
        </ul>
      )}
      <div className={`${styles.ends} ${styles.small}`}>
        <details onToggle={(event) => setTableOpen(event.currentTarget.open)}>
          <summary>{t('As a table')}</summary>
          {isTableOpen && <Table title={title} days={days} series={series} />}
        </details>
        <Link to={link.to}>{link.label}</Link>
      </div>
    </figure>
  );
}

type Data = Pick<DayChartProps, 'days' | 'series'>;

function Bars({ days, series, top }: Data & { top: number }) {
  const [hovered, setHovered] = useState<number>();
  const isToday = (index: number) => index === days.length - 1;
  const labelOf = (index: number) => {
    const values = series.map(({ label, values }) => `${count.format(values[index] ?? 0)} ${label}`);
    return `${isToday(index) ? t('Today so far') : dayName(days[index] ?? '')}: ${values.join(', ')}`;
  };
  const bars = (
    <div className={styles.bars} aria-hidden="true">
      <span className={styles.scale}>{count.format(top)}</span>
      {days.map((day, index) => (
        <div
          key={day}
          className={styles.day}
          data-partial={isToday(index) || undefined}
          onMouseEnter={() => setHovered(index)}
          style={barOf(series, index, top)}
        />
      ))}
    </div>
  );
  // One tooltip for all bars, once one is hovered: tooltips are slow to render.
  return hovered === undefined ? bars : <Tooltip.Floating label={labelOf(hovered)}>{bars}</Tooltip.Floating>;
}

function Table({ title, days, series }: Data & { title: string }) {
  const [first, last] = [dayName(days[0] ?? ''), dayName(days.at(-1) ?? '')];
  const columns: Column<number>[] = [
    { header: t('Day'), isName: true, cell: (index) => dayName(days[index] ?? '') },
    ...series.map(({ label, values }) => ({
      header: label,
      cell: (index: number) => count.format(values[index] ?? 0),
    })),
  ];
  return (
    <DataTable
      dense
      label={t('{title}, {first} to {last}', { title, first, last })}
      columns={columns}
      rows={days.map((_, index) => index).reverse()}
      keyOf={String}
    />
  );
}

/** Height and colors of the bar of a day. One element draws all of its series: the cost of a chart is its elements. */
function barOf(series: readonly Series[], index: number, top: number): CSSProperties {
  const sum = series.reduce((before, { values }) => before + (values[index] ?? 0), 0);
  let end = 0;
  const stops = series.map(({ tone, values }) => {
    const start = end;
    end += values[index] ?? 0;
    return `var(--bar-${tone}) ${(start / sum) * 100}% ${(end / sum) * 100}%`;
  });
  return sum === 0
    ? {}
    : ({
        '--height': `${(sum / top) * 100}%`,
        '--colors': stops.join(),
      } as CSSProperties);
}
