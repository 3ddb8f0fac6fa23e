import { Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { t } from '../../language/language.ts';
import { SaveBar } from '../../ui/forms/save-bar.tsx';
import { monospace, verbatim } from '../../ui/forms/verbatim.ts';
import { Section } from '../../ui/layout/page.tsx';
import type { Connection, ConnectionPartProps } from '../connection-part.ts';
import { ProviderFields } from './provider-fields.tsx';
import { inputOf, needsSecret, type Values, valuesOf } from './settings-values.ts';
import { NameSection, sharedLabels, UserSections } from './shared-settings.tsx';
import { useConnectionForm } from './use-connection-form.ts';

const labels: Record<keyof Values, string> = {
  ...sharedLabels,
  issuer: t('Issuer'),
  clientId: t('Client ID'),
  clientSecret: t('Client secret'),
  scopes: t('Scopes'),
  hostedDomain: t('Google Workspace domain'),
  acceptsAssertions: t('Accept identity assertions'),
};

/** Settings of the provider, and of the users who sign in by it. */
export function ConnectionSettings({ connection, mayChange }: ConnectionPartProps) {
  const saved = useMemo(() => valuesOf(connection), [connection]);
  const form = useConnectionForm(connection, mayChange, saved, (edits) => inputOf(saved, edits));
  const claim = { maw: '28rem', maxLength: 100, styles: monospace, ...verbatim };
  return (
    <>
      <NameSection form={form} />
      <Section title={t('Provider')}>
        <ProviderFields connection={connection} form={form} />
        <TextInput
          label={t('Scopes')}
          description={t('Separated by spaces; openid is required.')}
          maw="36rem"
          styles={monospace}
          {...verbatim}
          {...form.field('scopes')}
        />
        {connection.preset === 'google' && (
          <TextInput
            label={t('Google Workspace domain')}
            description={t('Only accounts of this domain can sign in. Empty: any Google account.')}
            placeholder="example.com"
            {...claim}
            {...form.field('hostedDomain')}
          />
        )}
        <Switch
          label={t('Accept identity assertions')}
          description={t('Applications with this grant get tokens for assertions of the issuer, without a page.')}
          {...form.toggle('acceptsAssertions')}
        />
      </Section>
      <UserSections connection={connection} form={form} />
      <SaveBar
        form={form}
        labels={labels}
        describe={describe}
        consequence={consequence(connection, form.changed)}
        isInvalid={needsSecret(connection, form.values)}
      />
    </>
  );
}

const ofProvider: readonly (keyof Values)[] = ['issuer', 'clientId', 'clientSecret', 'scopes', 'hostedDomain'];

/** The effect of saving. */
function consequence({ identities, state }: Connection, changed: readonly (keyof Values)[]): string | undefined {
  const parts = [
    changed.some((name) => ofProvider.includes(name)) && t('Sign-ins and tests in progress fail.'),
    changed.some((name) => ofProvider.includes(name)) &&
      state === 'ENABLED' &&
      t('It stays enabled: test it right after saving.'),
    changed.includes('issuer') &&
      identities > 0 &&
      t(
        '{count, plural, one {The account of # connected user is no longer recognized.} other {The accounts of # connected users are no longer recognized.}}',
        { count: identities },
      ),
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}

function describe(name: keyof Values, from: Values): string {
  const value = from[name];
  if (name === 'clientSecret') return value ? t('a new secret') : t('the stored one');
  return typeof value === 'boolean' ? (value ? t('On') : t('Off')) : value;
}
