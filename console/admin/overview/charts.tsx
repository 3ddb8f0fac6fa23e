import { useQuery } from '../api.ts';
import { Activity } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';
import { DayChart, type Series } from './day-chart.tsx';
import { chartsOf, type Day, lastDays } from './days.ts';
import styles from './overview-page.module.css';

const shown = 14;
type Measure = Exclude<keyof Day, 'day'>;

const sumOf = (days: readonly Day[], of: (day: Day) => number) => days.reduce((sum, day) => sum + of(day), 0);

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
  const series = (label: string, tone: Series['tone'], of: Measure | ((day: Day) => number)): Series => ({
    label,
    tone,
    values: now.map((day) => (typeof of === 'function' ? of(day) : day[of])),
  });
  const events = (query: Record<string, string>) => ({
    to: `${path('events')}?${new URLSearchParams({ period: 'month', ...query })}`,
    label: t('Events'),
  });
  const busiest = (some: readonly Day[]) => Math.max(...some.map(({ activeUsers }) => activeUsers));
  const verified = sumOf(now, (day) => day.codesVerified);
  const seconds = verified === 0 ? undefined : Math.round(sumOf(now, (day) => day.codeSeconds) / verified);
  const notEntered = (day: Day) => Math.max(0, day.codesSent - day.codesVerified);
  const scimErrors = (day: Day) => day.scimRefused + day.scimFailed;
  const has = chartsOf(all);
  if (!Object.values(has).includes(true)) return null;
  return (
    <Section title={t('Sign-in, last 14 days')} lead={t('Per day (UTC), compared with the previous 14 days.')}>
      <div className={styles.charts}>
        {has.signIns && (
          <DayChart
            title={t('Sign-ins and refusals')}
            days={days}
            series={[
              series(t('known device'), 'strong', 'signInsOnKnownDevices'),
              series(t('passkey'), 'middle', 'signInsWithPasskeys'),
              series(
                t('with a code'),
                'soft',
                (day) => day.signIns - day.signInsOnKnownDevices - day.signInsWithPasskeys,
              ),
              series(t('refused'), 'bad', 'refused'),
            ]}
            total={sumOf(now, (day) => day.signIns)}
            note={t('{count, number} refused', { count: sumOf(now, (day) => day.refused) })}
            before={sumOf(before, (day) => day.signIns)}
            link={{ ...events({ group: 'sign-in', result: 'FAILURE' }), label: t('Refused') }}
          />
        )}
        {has.activeUsers && (
          <DayChart
            title={t('Active users on the busiest day')}
            days={days}
            series={[series(t('users'), 'strong', 'activeUsers')]}
            total={busiest(now)}
            note={t('distinct users per day')}
            before={busiest(before)}
            link={events({ type: 'user.signed_in' })}
          />
        )}
        {has.codes && (
          <DayChart
            title={t('One-time codes')}
            days={days}
            series={[
              series(t('entered'), 'strong', 'codesVerified'),
              series(t('sent, not entered'), 'soft', notEntered),
            ]}
            total={sumOf(now, (day) => day.codesSent)}
            note={seconds === undefined ? t('sent') : t('sent; entered after {seconds} s on average', { seconds })}
            before={sumOf(before, (day) => day.codesSent)}
            link={events({ type: 'otp.requested,otp.sent,otp.suppressed,otp.verified,otp.rejected' })}
          />
        )}
        {has.directory && (
          <DayChart
            title={t('Directory requests refused')}
            days={days}
            series={[series(t('refused (4xx)'), 'soft', 'scimRefused'), series(t('failed (5xx)'), 'bad', 'scimFailed')]}
            total={sumOf(now, scimErrors)}
            note={t('of {count, number} requests', { count: sumOf(now, (day) => day.scimRequests) })}
            before={sumOf(before, scimErrors)}
            link={{ to: path('directory'), label: t('Requests') }}
          />
        )}
        {has.logouts && (
          <DayChart
            title={t('Back-channel logouts')}
            days={days}
            series={[series(t('delivered'), 'strong', 'logoutsDelivered'), series(t('failed'), 'bad', 'logoutsFailed')]}
            note={t('{count, number} failed', { count: sumOf(now, (day) => day.logoutsFailed) })}
            before={sumOf(before, (day) => day.logoutsDelivered + day.logoutsFailed)}
            link={{ to: path('logout-deliveries'), label: t('Deliveries') }}
          />
        )}
      </div>
    </Section>
  );
}
