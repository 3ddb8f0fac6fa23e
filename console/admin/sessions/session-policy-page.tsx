import { useMemo } from 'react';
import { useAccess } from '../access.tsx';
import { useMutation } from '../api.ts';
import { ProjectById, UpdateSessionPolicy } from '../generated/operations.ts';
import { useProject } from '../projects/project.tsx';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { useDraft } from '../ui/forms/draft.ts';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import styles from './session-policy-page.module.css';
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
} as const;

type Name = keyof typeof fields;
const names = Object.keys(fields) as Name[];

/** Session settings with a timeline and a summary. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const saved = useMemo(
    () => Object.fromEntries(names.map((name) => [name, project[name]])) as Record<Name, number>,
    [project],
  );
  const { values, set, changed, edits, settle, reset } = useDraft(saved);
  const [update, busy, failure, clear] = useMutation(UpdateSessionPolicy, [ProjectById]);
  const input = { projectId: project.id, expectedVersion: project.version, ...edits };
  const faultOf = (name: Name) => {
    const [min, max] = fields[name].bounds;
    if (values[name] < min || values[name] > max) return `From ${formatDuration(min)} to ${formatDuration(max)}`;
    return failure?.field === name ? failure.message : undefined;
  };
  return (
    <Page title="Session policy" lead="Session and token lifetimes" narrow>
      {!mayChange && <ViewerNotice project={project} />}
      <Section title="Session lifetime">
        <SessionTimeline idleSeconds={values.idleTimeoutSeconds} maxSeconds={values.maxSessionSeconds} />
        <p className={styles.sentence} role="status">
          {sentence(values)}
        </p>
      </Section>
      <Section title="Sessions" lead="A session belongs to one browser and serves all applications.">
        <div className={styles.fields}>
          {names.slice(0, 2).map((name) => (
            <Duration
              key={name}
              label={fields[name].label}
              hint={fields[name].hint}
              seconds={values[name]}
              disabled={!mayChange}
              error={faultOf(name)}
              onChange={(seconds) => set(name, seconds)}
            />
          ))}
        </div>
      </Section>
      <Section title="Tokens" lead="Issued at sign-in. Neither can be refreshed.">
        <div className={styles.fields}>
          {names.slice(2).map((name) => (
            <Duration
              key={name}
              label={fields[name].label}
              hint={fields[name].hint}
              seconds={values[name]}
              disabled={!mayChange}
              error={faultOf(name)}
              onChange={(seconds) => set(name, seconds)}
            />
          ))}
        </div>
      </Section>
      {changed.length > 0 && (
        <div>
          <ShowGraphql operation={UpdateSessionPolicy} variables={{ input }} />
        </div>
      )}
      <SaveBar
        changes={changed.map((name) => ({
          label: fields[name].label,
          before: formatDuration(saved[name]),
          after: formatDuration(values[name]),
        }))}
        busy={busy}
        failure={failure}
        consequence={consequence(saved, values)}
        onSave={async () => {
          if (names.some((name) => faultOf(name) !== undefined && failure?.field !== name)) return;
          const outcome = await update({ input });
          if (!outcome.data) return;
          toast('Session policy saved');
          settle(edits);
        }}
        onDiscard={() => {
          reset();
          clear();
        }}
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
