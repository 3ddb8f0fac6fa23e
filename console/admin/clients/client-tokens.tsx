import { Checkbox, Radio, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { UpdateClient } from '../generated/operations.ts';
import { useProject } from '../projects/project.tsx';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { useDraft } from '../ui/forms/draft.ts';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { ClientPartProps } from './client-part.ts';
import styles from './client-settings.module.css';
import { addressFault } from './redirect-fault.ts';
import { useClientForm } from './use-client-form.ts';

interface Values {
  /** Null: the project's default. */
  accessTokenTtlSeconds: number | null;
  backchannelLogoutUri: string;
  backchannelLogoutSessionRequired: boolean;
  logoutTokenTyp: 'SECEVENT' | 'LOGOUT';
}

const types = { SECEVENT: 'secevent+jwt', LOGOUT: 'logout+jwt' } as const;

/** Access token lifetime and back-channel logout. */
export function ClientTokens({ client, mayChange }: ClientPartProps) {
  const project = useProject();
  const saved = useMemo<Values>(
    () => ({
      accessTokenTtlSeconds: client.accessTokenTtlSeconds ?? null,
      backchannelLogoutUri: client.backchannelLogoutUri ?? '',
      backchannelLogoutSessionRequired: client.backchannelLogoutSessionRequired,
      logoutTokenTyp: client.logoutTokenTyp,
    }),
    [client],
  );
  const { values, set, changed, edits, settle, reset } = useDraft(saved);
  const { save, busy, failure, faultOf, clear } = useClientForm(client);
  const input = {
    ...edits,
    ...(edits.backchannelLogoutUri === undefined
      ? {}
      : { backchannelLogoutUri: edits.backchannelLogoutUri.trim() || null }),
  };
  const ttl = values.accessTokenTtlSeconds;
  const life = (seconds: number | null) =>
    seconds === null ? `Project default (${formatDuration(project.accessTokenTtlSeconds)})` : formatDuration(seconds);
  return (
    <>
      <Section title="Access tokens" lead="Valid for UserInfo only. ID tokens cannot be refreshed.">
        <Switch
          label={`Project default (${formatDuration(project.accessTokenTtlSeconds)})`}
          checked={ttl === null}
          disabled={!mayChange}
          onChange={(event) =>
            set('accessTokenTtlSeconds', event.currentTarget.checked ? null : project.accessTokenTtlSeconds)
          }
        />
        {ttl !== null && (
          <Duration
            label="Access token lifetime"
            hint="1 second to 1 hour"
            seconds={ttl}
            disabled={!mayChange}
            error={faultOf('accessTokenTtlSeconds')}
            onChange={(seconds) => set('accessTokenTtlSeconds', seconds)}
          />
        )}
      </Section>
      <Section
        title="Back-channel logout"
        lead="Receives a signed logout token when a session ends; retried for hours."
      >
        <TextInput
          className={styles.name}
          label="Back-channel logout URI"
          description="https, reachable from this server. Empty: disabled."
          placeholder="https://app.example.com/backchannel-logout"
          value={values.backchannelLogoutUri}
          disabled={!mayChange}
          spellCheck={false}
          error={addressFault(values.backchannelLogoutUri) ?? faultOf('backchannelLogoutUri')}
          onChange={(event) => set('backchannelLogoutUri', event.currentTarget.value)}
        />
        <Checkbox
          label="Require session ID (sid)"
          description="For single-session logout. A global logout has no sid."
          checked={values.backchannelLogoutSessionRequired}
          disabled={!mayChange}
          onChange={(event) => set('backchannelLogoutSessionRequired', event.currentTarget.checked)}
        />
        <Radio.Group
          label="Logout token type"
          description="The typ header. Some receivers require a specific value."
          value={values.logoutTokenTyp}
          onChange={(value) => set('logoutTokenTyp', value as Values['logoutTokenTyp'])}
        >
          <div className={styles.types}>
            {Object.entries(types).map(([value, label]) => (
              <Radio key={value} value={value} label={<code>{label}</code>} disabled={!mayChange} />
            ))}
          </div>
        </Radio.Group>
      </Section>
      {changed.length > 0 && (
        <div className={styles.graphql}>
          <ShowGraphql
            operation={UpdateClient}
            variables={{ input: { id: client.id, expectedVersion: client.version, ...input } }}
          />
        </div>
      )}
      <SaveBar
        changes={changed.map((name) => ({
          label: labels[name],
          before: describe(name, saved, life),
          after: describe(name, values, life),
        }))}
        busy={busy}
        failure={failure}
        onSave={async () => {
          if (addressFault(values.backchannelLogoutUri)) return;
          if (await save(input)) settle(edits);
        }}
        onDiscard={() => {
          reset();
          clear();
        }}
      />
    </>
  );
}

const labels: Record<keyof Values, string> = {
  accessTokenTtlSeconds: 'Access token lifetime',
  backchannelLogoutUri: 'Back-channel logout URI',
  backchannelLogoutSessionRequired: 'Session ID required',
  logoutTokenTyp: 'Logout token type',
};

function describe(name: keyof Values, from: Values, life: (seconds: number | null) => string): string {
  if (name === 'accessTokenTtlSeconds') return life(from.accessTokenTtlSeconds);
  if (name === 'logoutTokenTyp') return types[from.logoutTokenTyp];
  if (name === 'backchannelLogoutSessionRequired') return from.backchannelLogoutSessionRequired ? 'Yes' : 'No';
  return from.backchannelLogoutUri;
}
