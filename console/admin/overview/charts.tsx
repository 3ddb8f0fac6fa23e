import { SimpleGrid } from '@mantine/core';
import { useQuery } from '../api.ts';
import { Activity } from '../generated/operations.ts';
import { count } from '../ui/counted.ts';
import { LoadError } from '../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';
import { DayChart, type Series } from './day-chart.tsx';
import { chartsOf, type Day, lastDays } from './days.ts';

const shown = 14;
type Measure = Exclude<keyof Day, 'day'>;

const sumOf = (days: readonly Day[], of: (day: Day) => number) => days.reduce((sum, day) => sum + of(day), 0);

/** Sign-in activity of the last two weeks compared with the two before. */
export function Charts({ projectId, path }: { projectId: string; path: (rest: string) => string }) {
  const { data, failure, reload } = useQuery(Activity, { projectId }, { everySeconds: 60 });
  if (failure && !data) return <LoadError failure={failure} subject="the activity" retry={reload} />;
  if (!data) {
    return (
      <Section title="Sign-in, last 14 days">
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
    label: 'Events',
  });
  const busiest = (some: readonly Day[]) => Math.max(...some.map(({ activeUsers }) => activeUsers));
  const verified = sumOf(now, (day) => day.codesVerified);
  const seconds = verified === 0 ? undefined : Math.round(sumOf(now, (day) => day.codeSeconds) / verified);
  const notEntered = (day: Day) => Math.max(0, day.codesSent - day.codesVerified);
  const scimErrors = (day: Day) => day.scimRefused + day.scimFailed;
  const has = chartsOf(all);
  if (!Object.values(has).includes(true)) return null;
  return (
    <Section title="Sign-in, last 14 days" lead="Per day (UTC), compared with the previous 14 days.">
      <SimpleGrid minColWidth="min(19rem, 100%)" spacing="2.5rem" verticalSpacing="2rem">
        {has.signIns && (
          <DayChart
            title="Sign-ins and refusals"
            days={days}
            series={[
              series('known device', 'strong', 'signInsOnKnownDevices'),
              series('passkey', 'middle', 'signInsWithPasskeys'),
              series('with a code', 'soft', (day) => day.signIns - day.signInsOnKnownDevices - day.signInsWithPasskeys),
              series('refused', 'bad', 'refused'),
            ]}
            total={sumOf(now, (day) => day.signIns)}
            note={`${count.format(sumOf(now, (day) => day.refused))} refused`}
            before={sumOf(before, (day) => day.signIns)}
            link={{ ...events({ group: 'sign-in', result: 'FAILURE' }), label: 'Refused' }}
          />
        )}
        {has.activeUsers && (
          <DayChart
            title="Active users on the busiest day"
            days={days}
            series={[series('users', 'strong', 'activeUsers')]}
            total={busiest(now)}
            note="distinct users per day"
            before={busiest(before)}
            link={events({ type: 'user.signed_in' })}
          />
        )}
        {has.codes && (
          <DayChart
            title="One-time codes"
            days={days}
            series={[series('entered', 'strong', 'codesVerified'), series('sent, not entered', 'soft', notEntered)]}
            total={sumOf(now, (day) => day.codesSent)}
            note={seconds === undefined ? 'sent' : `sent; entered after ${seconds} s on average`}
            before={sumOf(before, (day) => day.codesSent)}
            link={events({ type: 'otp.requested,otp.sent,otp.suppressed,otp.verified,otp.rejected' })}
          />
        )}
        {has.directory && (
          <DayChart
            title="Directory requests refused"
            days={days}
            series={[series('refused (4xx)', 'soft', 'scimRefused'), series('failed (5xx)', 'bad', 'scimFailed')]}
            total={sumOf(now, scimErrors)}
            note={`of ${count.format(sumOf(now, (day) => day.scimRequests))} requests`}
            before={sumOf(before, scimErrors)}
            link={{ to: path('directory'), label: 'Requests' }}
          />
        )}
        {has.logouts && (
          <DayChart
            title="Back-channel logouts"
            days={days}
            series={[series('delivered', 'strong', 'logoutsDelivered'), series('failed', 'bad', 'logoutsFailed')]}
            note={`${count.format(sumOf(now, (day) => day.logoutsFailed))} failed`}
            before={sumOf(before, (day) => day.logoutsDelivered + day.logoutsFailed)}
            link={{ to: path('logout-deliveries'), label: 'Deliveries' }}
          />
        )}
      </SimpleGrid>
    </Section>
  );
}
