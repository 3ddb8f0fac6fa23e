import { useQuery } from '../api.ts';
import { Activity } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';
import { DayChart, type DayChartProps, type Series } from './day-chart.tsx';
import { chartsOf, type Day, lastDays } from './days.ts';
import styles from './overview-page.module.css';

const shown = 14;
type Measure = Exclude<keyof Day, 'day'> | ((day: Day) => number);
type Chart = Omit<DayChartProps, 'days'>;

interface Period {
  now: readonly Day[];
  before: readonly Day[];
  path(rest: string): string;
}

const valueOf = (day: Day, of: Measure) => (typeof of === 'function' ? of(day) : day[of]);
const sumOf = (days: readonly Day[], of: Measure) => days.reduce((sum, day) => sum + valueOf(day, of), 0);

/** Sign-in activity of the last two weeks compared with the two before. */
export function Charts({ projectId, path }: { projectId: string; path: (rest: string) => string }) {
  const { data, failure, reload } = useQuery(Activity, { projectId }, { everySeconds: 60 });
  if (failure && !data) return <LoadError failure={failure} subject={t('the activity')} retry={reload} />;
  if (!data) {
    return (
      <Section title={t('Sign-in, last 14 days')}>
        <LinesSkeleton lines={6} />
      </Section>
    );
  }
  const all = lastDays(data.activity, shown * 2);
  const [before, now] = [all.slice(0, shown), all.slice(shown)];
  const days = now.map(({ day }) => day);
  const has = chartsOf(all);
  const names = (Object.keys(charts) as ChartName[]).filter((name) => has[name]);
  if (names.length === 0) return null;
  return (
    <Section title={t('Sign-in, last 14 days')} lead={t('Per day (UTC), compared with the previous 14 days.')}>
      <div className={styles.charts}>
        {names.map((name) => (
          <DayChart key={name} days={days} {...charts[name]({ now, before, path })} />
        ))}
      </div>
    </Section>
  );
}

type ChartName = keyof ReturnType<typeof chartsOf>;

const charts: Record<ChartName, (period: Period) => Chart> = {
  signIns: ({ now, before, path }) => ({
    title: t('Sign-ins and refusals'),
    series: [
      series(now, t('known device'), 'strong', 'signInsOnKnownDevices'),
      series(now, t('passkey'), 'middle', 'signInsWithPasskeys'),
      series(now, t('with a code'), 'soft', (day) => day.signIns - day.signInsOnKnownDevices - day.signInsWithPasskeys),
      series(now, t('refused'), 'bad', 'refused'),
    ],
    total: sumOf(now, 'signIns'),
    note: t('{count, number} refused', { count: sumOf(now, 'refused') }),
    before: sumOf(before, 'signIns'),
    link: { ...events(path, { group: 'sign-in', result: 'FAILURE' }), label: t('Refused') },
  }),
  activeUsers: ({ now, before, path }) => ({
    title: t('Active users on the busiest day'),
    series: [series(now, t('users'), 'strong', 'activeUsers')],
    total: busiest(now),
    note: t('distinct users per day'),
    before: busiest(before),
    link: events(path, { type: 'user.signed_in' }),
  }),
  codes: ({ now, before, path }) => ({
    title: t('One-time codes'),
    series: [
      series(now, t('entered'), 'strong', 'codesVerified'),
      series(now, t('sent, not entered'), 'soft', (day) => Math.max(0, day.codesSent - day.codesVerified)),
    ],
    total: sumOf(now, 'codesSent'),
    note: codeNote(now),
    before: sumOf(before, 'codesSent'),
    link: events(path, { type: 'otp.requested,otp.sent,otp.suppressed,otp.verified,otp.rejected' }),
  }),
  directory: ({ now, before, path }) => ({
    title: t('Directory requests refused'),
    series: [
      series(now, t('refused (4xx)'), 'soft', 'scimRefused'),
      series(now, t('failed (5xx)'), 'bad', 'scimFailed'),
    ],
    note: t('of {count, number} requests', { count: sumOf(now, 'scimRequests') }),
    before: sumOf(before, (day) => day.scimRefused + day.scimFailed),
    link: { to: path('directory'), label: t('Requests') },
  }),
  logouts: ({ now, before, path }) => ({
    title: t('Back-channel logouts'),
    series: [
      series(now, t('delivered'), 'strong', 'logoutsDelivered'),
      series(now, t('failed'), 'bad', 'logoutsFailed'),
    ],
    note: t('{count, number} failed', { count: sumOf(now, 'logoutsFailed') }),
    before: sumOf(before, (day) => day.logoutsDelivered + day.logoutsFailed),
    link: { to: path('logout-deliveries'), label: t('Deliveries') },
  }),
};

const series = (days: readonly Day[], label: string, tone: Series['tone'], of: Measure): Series => ({
  ...{ label, tone },
  values: days.map((day) => valueOf(day, of)),
});

const busiest = (days: readonly Day[]) => Math.max(...days.map(({ activeUsers }) => activeUsers));

const events = (path: Period['path'], query: Record<string, string>) => ({
  to: `${path('events')}?${new URLSearchParams({ period: 'month', ...query })}`,
  label: t('Events'),
});

function codeNote(days: readonly Day[]): string {
  const verified = sumOf(days, 'codesVerified');
  if (verified === 0) return t('sent');
  const seconds = Math.round(sumOf(days, 'codeSeconds') / verified);
  return t('sent; entered after {seconds} s on average', { seconds });
}
