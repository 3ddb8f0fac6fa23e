import { useRead } from '../api.ts';
import { Activity } from '../generated/operations.ts';
import { Failed } from '../ui/failed.tsx';
import { Section } from '../ui/page.tsx';
import { LinesSketch } from '../ui/sketch.tsx';
import styles from './charts.module.css';
import { DayChart } from './day-chart.tsx';
import { type Day, lastDays } from './days.ts';

const shown = 14;

const sumOf = (days: readonly Day[], name: Exclude<keyof Day, 'day'>) => days.reduce((sum, day) => sum + day[name], 0);

/** Is sign-in healthy? The last two weeks, beside the two before. */
export function Charts({ projectId, eventsPath }: { projectId: string; eventsPath: string }) {
  const { data, failure, reload } = useRead(Activity, { projectId }, { everySeconds: 60 });
  if (failure && !data) return <Failed failure={failure} what="the activity" retry={reload} />;
  if (!data) {
    return (
      <Section title="Sign-in, last 14 days">
        <LinesSketch lines={6} />
      </Section>
    );
  }
  const all = lastDays(data.activity, shown * 2);
  const [before, now] = [all.slice(0, shown), all.slice(shown)];
  const days = now.map(({ day }) => day);
  const busiest = Math.max(...now.map(({ activeUsers }) => activeUsers));
  const events = (query: Record<string, string>) =>
    `${eventsPath}?${new URLSearchParams({ period: 'month', ...query })}`;
  return (
    <Section title="Sign-in, last 14 days" lead="By day in UTC, compared with the 14 days before.">
      <div className={styles.charts}>
        <DayChart
          title="Sign-ins"
          days={days}
          series={[
            {
              label: 'on known devices',
              tone: 'strong',
              values: now.map(({ signInsOnKnownDevices }) => signInsOnKnownDevices),
            },
            { label: 'with a code', tone: 'soft', values: now.map((day) => day.signIns - day.signInsOnKnownDevices) },
          ]}
          before={sumOf(before, 'signIns')}
          link={{ to: events({ group: 'sign-in', result: 'SUCCESS' }), label: 'Events' }}
        />
        <DayChart
          title="Users who signed in, on the busiest day"
          days={days}
          series={[{ label: 'users', tone: 'strong', values: now.map(({ activeUsers }) => activeUsers) }]}
          total={busiest}
          before={Math.max(...before.map(({ activeUsers }) => activeUsers))}
          link={{ to: events({ group: 'sign-in', result: 'SUCCESS' }), label: 'Events' }}
        />
        <DayChart
          title="Refused codes, factors and proofs"
          days={days}
          series={[{ label: 'refused', tone: 'bad', values: now.map(({ refused }) => refused) }]}
          before={sumOf(before, 'refused')}
          link={{ to: events({ group: 'sign-in', result: 'FAILURE' }), label: 'Events' }}
        />
      </div>
    </Section>
  );
}
