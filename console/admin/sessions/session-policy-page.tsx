import { Alert, SimpleGrid } from '@mantine/core';
import { useMemo } from 'react';
import { useAccess } from '../access.tsx';
import { ProjectById, UpdateSessionPolicy } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { pick } from '../ui/forms/pick.ts';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { useSettingsForm } from '../ui/forms/settings-form.ts';
import { Page, Section } from '../ui/layout/page.tsx';
import { SessionTimeline } from './session-timeline.tsx';

const day = 86_400;
const fields = {
  idleTimeoutSeconds: {
    label: t('Idle timeout'),
    hint: t('Ends after this much inactivity.'),
    bounds: [1, 90 * day],
  },
  maxSessionSeconds: {
    label: t('Longest session'),
    hint: t('Ends after this time, even if active.'),
    bounds: [1, 365 * day],
  },
  idTokenTtlSeconds: {
    label: t('ID token lifetime'),
    hint: t('Time for an application to verify a sign-in. One minute suffices.'),
    bounds: [1, day],
  },
  accessTokenTtlSeconds: {
    label: t('Access token lifetime'),
    hint: t('Time UserInfo is available after sign-in. Applications can override it.'),
    bounds: [1, 3600],
  },
  refreshTokenTtlSeconds: {
    label: t('Refresh token lifetime'),
    hint: t('How long an application can renew its access after a sign-in.'),
    bounds: [60, 365 * day],
  },
  refreshTokenIdleSeconds: {
    label: t('Refresh token idle timeout'),
    hint: t('Ends the renewal if the application does not use it for this time.'),
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
  const saved = useMemo(() => pick(project, ...names), [project]);
  const form = useSettingsForm({
    saved,
    mayChange,
    operation: UpdateSessionPolicy,
    variables: (edits) => ({ input: { projectId: project.id, expectedVersion: project.version, ...edits } }),
    invalidates: [ProjectById],
    done: t('Session policy saved'),
  });
  const { values } = form;
  const rangeFault = (name: Name) => {
    const [min, max] = fields[name].bounds;
    const isFit = values[name] >= min && values[name] <= max;
    return isFit ? undefined : t('From {min} to {max}', { min: formatDuration(min), max: formatDuration(max) });
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
    <Page title={t('Session policy')} lead={t('Session and token lifetimes')} narrow>
      {!mayChange && <ViewerNotice project={project} />}
      <Section title={t('Session lifetime')}>
        <SessionTimeline idleSeconds={values.idleTimeoutSeconds} maxSeconds={values.maxSessionSeconds} />
        <Alert color="neutral" role="status">
          {sentence(values)}
        </Alert>
      </Section>
      <Section title={t('Sessions')} lead={t('A session belongs to one browser and serves all applications.')}>
        {durations(names.slice(0, 2))}
      </Section>
      <Section title={t('Tokens')} lead={t('Issued at sign-in. A refresh token renews the access token.')}>
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
      ? t('Users stay signed in for {max}; the idle timeout has no effect.', { max: formatDuration(max) })
      : t(
          'Users active at least every {idle} stay signed in for up to {max}; after a longer pause they sign in again.',
          { idle: formatDuration(idle), max: formatDuration(max) },
        );
  return t(
    '{session} After each sign-in, applications have {idToken} to read the ID token, and UserInfo for {accessToken}.',
    {
      session,
      idToken: formatDuration(idTokenTtlSeconds),
      accessToken: formatDuration(accessTokenTtlSeconds),
    },
  );
}

function consequence(saved: Record<Name, number>, values: Record<Name, number>): string | undefined {
  const parts = [
    values.idleTimeoutSeconds < saved.idleTimeoutSeconds &&
      t('Sessions idle for more than {duration} end at their next use.', {
        duration: formatDuration(values.idleTimeoutSeconds),
      }),
    values.maxSessionSeconds < saved.maxSessionSeconds &&
      t('Sessions older than {duration} end at their next use.', {
        duration: formatDuration(values.maxSessionSeconds),
      }),
    values.idleTimeoutSeconds > saved.idleTimeoutSeconds && t('Unattended browsers stay signed in for longer.'),
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}
