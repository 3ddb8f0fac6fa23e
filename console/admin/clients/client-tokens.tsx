import { Checkbox, Group, Radio, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { GrantList } from '../grants/refresh-grants.tsx';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { Duration, formatDuration } from '../ui/forms/duration.tsx';
import { pick } from '../ui/forms/pick.ts';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import type { SettingsForm } from '../ui/forms/settings-form.ts';
import { Section } from '../ui/layout/page.tsx';
import type { ClientPartProps } from './client-part.ts';
import { addressFault } from './redirect-fault.ts';
import { useClientForm } from './use-client-form.ts';

const valuesOf = (client: ClientPartProps['client']) => ({
  ...pick(client, 'idTokenTtlSeconds', 'accessTokenTtlSeconds', 'refreshTokenTtlSeconds', 'refreshTokenIdleSeconds'),
  ...pick(client, 'backchannelLogoutSessionRequired', 'logoutTokenTyp'),
  backchannelLogoutUri: client.backchannelLogoutUri ?? '',
});

type Values = ReturnType<typeof valuesOf>;

const types = { SECEVENT: 'secevent+jwt', LOGOUT: 'logout+jwt' } as const;

/** Lifetimes of tokens, and back-channel logout. */
export function ClientTokens({ client, mayChange }: ClientPartProps) {
  const project = useProject();
  const saved = useMemo(() => valuesOf(client), [client]);
  const form = useClientForm(client, mayChange, saved, ({ backchannelLogoutUri: uri, ...edits }) => ({
    ...edits,
    ...(uri === undefined ? {} : { backchannelLogoutUri: uri.trim() || null }),
  }));
  const uriFault = addressFault(form.values.backchannelLogoutUri);
  const isIntroduced = client.introducedBy !== null;
  const standards = standardsOf(project);
  const lifetime = (name: keyof typeof standards) => (
    <Lifetime {...form.field(name)} standard={standards[name]} name={name} />
  );
  return (
    <>
      {!isIntroduced && (
        <Section title={t('ID tokens')} lead={t('Some products end their session when it expires.')}>
          {lifetime('idTokenTtlSeconds')}
        </Section>
      )}
      <Section
        title={t('Access tokens')}
        lead={t('Those for UserInfo. A token for an API has the lifetime of that API.')}
      >
        {lifetime('accessTokenTtlSeconds')}
      </Section>
      {client.grantTypes.includes('REFRESH_TOKEN') && (
        <Section
          title={t('Refresh tokens')}
          lead={t("The project's lifetimes are the limit; this application can have shorter ones.")}
        >
          {lifetime('refreshTokenTtlSeconds')}
          {lifetime('refreshTokenIdleSeconds')}
        </Section>
      )}
      {!isIntroduced && <BackChannelLogout form={form} uriFault={uriFault} />}
      <SaveBar
        form={form}
        labels={labels}
        describe={(name, from) => describe(name, from, standards)}
        isInvalid={uriFault !== undefined}
      />
      {client.grantTypes.includes('REFRESH_TOKEN') && <GrantList of={{ clientId: client.id }} mayChange={mayChange} />}
    </>
  );
}

function BackChannelLogout({ form, uriFault }: { form: SettingsForm<Values>; uriFault: string | undefined }) {
  const uri = form.field('backchannelLogoutUri');
  return (
    <Section
      title={t('Back-channel logout')}
      lead={t('Receives a signed logout token when a session ends; retried for hours.')}
    >
      <TextInput
        label={t('Back-channel logout URI')}
        description={t('https, reachable from this server. Empty: disabled.')}
        placeholder="https://app.example.com/backchannel-logout"
        maw="28rem"
        spellCheck={false}
        {...uri}
        error={uriFault ?? uri.error}
      />
      <Checkbox
        label={t('Require session ID (sid)')}
        description={t('For single-session logout. A global logout has no sid.')}
        {...form.toggle('backchannelLogoutSessionRequired')}
      />
      <Radio.Group
        label={t('Logout token type')}
        description={t('The typ header. Some receivers require a specific value.')}
        {...form.field('logoutTokenTyp')}
      >
        <Group gap="lg" mt="xs">
          {Object.entries(types).map(([value, label]) => (
            <Radio key={value} value={value} label={<code>{label}</code>} disabled={uri.disabled} />
          ))}
        </Group>
      </Radio.Group>
    </Section>
  );
}

type Lifetimes = Record<
  'idTokenTtlSeconds' | 'accessTokenTtlSeconds' | 'refreshTokenTtlSeconds' | 'refreshTokenIdleSeconds',
  number
>;

const lifetimes: Record<keyof Lifetimes, { label: string; hint: string }> = {
  idTokenTtlSeconds: { label: t('ID token lifetime'), hint: t('1 second to 1 day') },
  accessTokenTtlSeconds: { label: t('Access token lifetime'), hint: t('1 second to 1 hour') },
  refreshTokenTtlSeconds: { label: t('Refresh token lifetime'), hint: t('After a sign-in; 1 minute to 365 days') },
  refreshTokenIdleSeconds: { label: t('Refresh token idle timeout'), hint: t('Without use; 1 minute to 90 days') },
};

function standardsOf(of: Lifetimes): Lifetimes {
  return pick(of, 'idTokenTtlSeconds', 'accessTokenTtlSeconds', 'refreshTokenTtlSeconds', 'refreshTokenIdleSeconds');
}

interface LifetimeProps {
  name: keyof Lifetimes;
  value: number | null;
  error: string | undefined;
  disabled: boolean;
  onChange(seconds: number | null): void;
  /** The project's value. */
  standard: number;
}

/** A lifetime of this application, or the project's. */
function Lifetime({ name, standard, ...field }: LifetimeProps) {
  const { label, hint } = lifetimes[name];
  return (
    <>
      <Switch
        label={t('{label}: project default ({duration})', { label, duration: formatDuration(standard) })}
        checked={field.value === null}
        disabled={field.disabled}
        onChange={(event) => field.onChange(event.currentTarget.checked ? null : standard)}
      />
      {field.value !== null && <Duration label={label} hint={hint} {...field} value={field.value} />}
    </>
  );
}

const labels: Record<keyof Values, string> = {
  idTokenTtlSeconds: lifetimes.idTokenTtlSeconds.label,
  accessTokenTtlSeconds: lifetimes.accessTokenTtlSeconds.label,
  refreshTokenTtlSeconds: lifetimes.refreshTokenTtlSeconds.label,
  refreshTokenIdleSeconds: lifetimes.refreshTokenIdleSeconds.label,
  backchannelLogoutUri: t('Back-channel logout URI'),
  backchannelLogoutSessionRequired: t('Session ID required'),
  logoutTokenTyp: t('Logout token type'),
};

function describe(name: keyof Values, from: Values, standards: Lifetimes): string {
  if (name === 'logoutTokenTyp') return types[from.logoutTokenTyp];
  if (name === 'backchannelLogoutSessionRequired') return from.backchannelLogoutSessionRequired ? t('Yes') : t('No');
  if (name === 'backchannelLogoutUri') return from.backchannelLogoutUri;
  return from[name] === null
    ? t('Project default ({duration})', { duration: formatDuration(standards[name]) })
    : formatDuration(from[name]);
}
