import { Alert, SimpleGrid } from '@mantine/core';
import { useMemo } from 'react';
import { useAccess } from '../access.tsx';
import { ProjectById, UpdateSessionPolicy } from '../generated/operations.ts';
import { useProject } from '../projects/project.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { useSettingsForm } from '../ui/forms/settings-form.ts';
import { Page, Section } from '../ui/layout/page.tsx';
import { SessionTimeline } from './session-timeline.tsx';

const day = 86_400;
const fields = {
  idleTimeoutSeconds: {
    label: 'Idle timeout',
    hint: 'Ends after this much inactivity.',
    bounds: [1, 90 * day],
  },
  maxSessionSeconds: {
    label: 'Longest session',
    hint: 'Ends after this time, even if active.',
    bounds: [1, 365 * day],
  },
  idTokenTtlSeconds: {
    label: 'ID token lifetime',
    hint: 'Time for an application to verify a sign-in. One minute suffices.',
    bounds: [1, day],
  },
  accessTokenTtlSeconds: {
    label: 'Access token lifetime',
    hint: 'Time UserInfo is available after sign-in. Applications can override it.',
    bounds: [1, 3600],
  },
  refreshTokenTtlSeconds: {
    label: 'Refresh token lifetime',
    hint: 'How long an application can renew its access after a sign-in.',
    bounds: [60, 365 * day],
  },
  refreshTokenIdleSeconds: {
    label: 'Refresh token idle timeout',
    hint: 'Ends the renewal if the application does not use it for this time.',
    bounds: [60, 90 * day],
  },
} as const;

type Name = keyof typeof fields;
const names = Object.keys(fields) as Name[];
const labels = Object.fromEntries(names.map((name) => [name, fields[name].label])) as Record<Name, string>;

/** Session settings with a timeline and a summary. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const saved = useMemo(
    () => Object.fromEntries(names.map((name) => [name, project[name]])) as Record<Name, number>,
    [project],
  );
  const form = useSettingsForm({
    saved,
    mayChange,
    operation: UpdateSessionPolicy,
    variables: (edits) => ({ input: { projectId: project.id, expectedVersion: project.version, ...edits } }),
    invalidates: [ProjectById],
    done: 'Session policy saved',
  });
  const { values } = form;
  const rangeFault = (name: Name) => {
    const [min, max] = fields[name].bounds;
    const isFit = values[name] >= min && values[name] <= max;
    return isFit ? undefined : `From ${formatDuration(min)} to ${formatDuration(max)}`;
  };
  const durations = (some: readonly Name[]) => (
    <SimpleGrid minColWidth="17rem" spacing="lg">
      {some.map((name) => {
        const field = form.field(name);
        const { label, hint } = fields[name];
        return <Duration key={name} {...{ label, hint }} {...field} error={rangeFault(name) ?? field.error} />;
      })}
    </SimpleGrid>
  );
  return (
    <Page title="Session policy" lead="Session and token lifetimes" narrow>
      {!mayChange && <ViewerNotice project={project} />}
      <Section title="Session lifetime">
        <SessionTimeline idleSeconds={values.idleTimeoutSeconds} maxSeconds={values.maxSessionSeconds} />
        <Alert color="neutral" role="status">
          {sentence(values)}
        </Alert>
      </Section>
      <Section title="Sessions" lead="A session belongs to one browser and serves all applications.">
        {durations(names.slice(0, 2))}
      </Section>
      <Section title="Tokens" lead="Issued at sign-in. Neither can be refreshed.">
        {durations(names.slice(2))}
      </Section>
      <SaveBar
        form={form}
        labels={labels}
        describe={(name, from) => formatDuration(from[name])}
        consequence={consequence(saved, values)}
        isInvalid={names.some(rangeFault)}
      />
    </Page>
  );
}

function sentence({
  idleTimeoutSeconds: idle,
  maxSessionSeconds: max,
  idTokenTtlSeconds,
  accessTokenTtlSeconds,
}: Record<Name, number>): string {
  const session =
    idle >= max
      ? `Users stay signed in for ${formatDuration(max)}; the idle timeout has no effect.`
      : `Users active at least every ${formatDuration(idle)} stay signed in for up to ${formatDuration(max)}; after a longer pause they sign in again.`;
  return `${session} After each sign-in, applications have ${formatDuration(idTokenTtlSeconds)} to read the ID token, and UserInfo for ${formatDuration(accessTokenTtlSeconds)}.`;
}

function consequence(saved: Record<Name, number>, values: Record<Name, number>): string | undefined {
  const parts = [
    values.idleTimeoutSeconds < saved.idleTimeoutSeconds &&
      `Sessions idle for more than ${formatDuration(values.idleTimeoutSeconds)} end at their next use.`,
    values.maxSessionSeconds < saved.maxSessionSeconds &&
      `Sessions older than ${formatDuration(values.maxSessionSeconds)} end at their next use.`,
    values.idleTimeoutSeconds > saved.idleTimeoutSeconds && 'Unattended browsers stay signed in for longer.',
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}
