import { Checkbox, Group, Radio, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { useProject } from '../projects/project.tsx';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { ClientPartProps } from './client-part.ts';
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
  const form = useClientForm(client, mayChange, saved, ({ backchannelLogoutUri: uri, ...edits }) => ({
    ...edits,
    ...(uri === undefined ? {} : { backchannelLogoutUri: uri.trim() || null }),
  }));
  const ttl = form.field('accessTokenTtlSeconds');
  const uri = form.field('backchannelLogoutUri');
  const uriFault = addressFault(uri.value);
  const standard = `Project default (${formatDuration(project.accessTokenTtlSeconds)})`;
  return (
    <>
      <Section title="Access tokens" lead="Valid for UserInfo only. ID tokens cannot be refreshed.">
        <Switch
          label={standard}
          checked={ttl.value === null}
          disabled={!mayChange}
          onChange={(event) => ttl.onChange(event.currentTarget.checked ? null : project.accessTokenTtlSeconds)}
        />
        {ttl.value !== null && (
          <Duration label="Access token lifetime" hint="1 second to 1 hour" {...ttl} value={ttl.value} />
        )}
      </Section>
      <Section
        title="Back-channel logout"
        lead="Receives a signed logout token when a session ends; retried for hours."
      >
        <TextInput
          label="Back-channel logout URI"
          description="https, reachable from this server. Empty: disabled."
          placeholder="https://app.example.com/backchannel-logout"
          maw="28rem"
          spellCheck={false}
          {...uri}
          error={uriFault ?? uri.error}
        />
        <Checkbox
          label="Require session ID (sid)"
          description="For single-session logout. A global logout has no sid."
          {...form.toggle('backchannelLogoutSessionRequired')}
        />
        <Radio.Group
          label="Logout token type"
          description="The typ header. Some receivers require a specific value."
          {...form.field('logoutTokenTyp')}
        >
          <Group gap="lg" mt="xs">
            {Object.entries(types).map(([value, label]) => (
              <Radio key={value} value={value} label={<code>{label}</code>} disabled={!mayChange} />
            ))}
          </Group>
        </Radio.Group>
      </Section>
      <SaveBar
        form={form}
        labels={labels}
        describe={(name, from) => describe(name, from, standard)}
        isInvalid={uriFault !== undefined}
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

function describe(name: keyof Values, from: Values, standard: string): string {
  const { accessTokenTtlSeconds: ttl } = from;
  if (name === 'accessTokenTtlSeconds') return ttl === null ? standard : formatDuration(ttl);
  if (name === 'logoutTokenTyp') return types[from.logoutTokenTyp];
  if (name === 'backchannelLogoutSessionRequired') return from.backchannelLogoutSessionRequired ? 'Yes' : 'No';
  return from.backchannelLogoutUri;
}
