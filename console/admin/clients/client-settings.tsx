import { NativeSelect, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { useQuery } from '../api.ts';
import { LogoField } from '../experience/logo-field.tsx';
import { FactorStanding, type FactorStandingQuery } from '../generated/operations.ts';
import { switches } from '../generated/switches.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { amongRecent, requiring } from '../signin/passkey-policy.tsx';
import { tidy } from '../ui/forms/list-field.tsx';
import { optionsOf } from '../ui/forms/options.ts';
import { pick } from '../ui/forms/pick.ts';
import { Radios } from '../ui/forms/radios.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import type { SettingsForm } from '../ui/forms/settings-form.ts';
import { labelsOf, namesOf, SwitchList } from '../ui/forms/switches.tsx';
import { Section } from '../ui/layout/page.tsx';
import { algorithmNames } from './algorithm-names.ts';
import type { ClientPartProps } from './client-part.ts';
import { developmentUris } from './development.ts';
import { Grants, grantNames } from './grants.tsx';
import { KeyPair } from './keys/key-pair.tsx';
import { authMethodNames, kindOf } from './kind.ts';
import { addressFault } from './redirect-fault.ts';
import { PostLogoutUris, RedirectUris } from './redirect-uris.tsx';
import { useClientForm } from './use-client-form.ts';

const { signIn } = switches.Client;

const valuesOf = (client: ClientPartProps['client']) => ({
  ...pick(client, 'name', 'redirectUris', 'postLogoutRedirectUris', 'tokenEndpointAuthMethod'),
  ...pick(client, 'idTokenSignedResponseAlg', 'grantTypes', 'pkceOptional'),
  ...pick(client, ...namesOf(signIn)),
  jwks: client.jwks ? JSON.stringify(client.jwks, null, 2) : '',
  jwksUri: client.jwksUri ?? '',
  startUri: client.startUri ?? '',
  logoId: client.logoId ?? '',
});

type Values = ReturnType<typeof valuesOf>;

/** Name, redirect URIs and client authentication. */
export function ClientSettings({ client, mayChange }: ClientPartProps) {
  const saved = useMemo(() => valuesOf(client), [client]);
  const form = useClientForm(client, mayChange, saved, (edits) => ({
    ...edits,
    ...(edits.redirectUris ? { redirectUris: tidy(edits.redirectUris) } : {}),
    ...(edits.postLogoutRedirectUris ? { postLogoutRedirectUris: tidy(edits.postLogoutRedirectUris) } : {}),
    ...(edits.startUri === undefined ? {} : { startUri: (edits.startUri.trim() || null) as never }),
    ...(edits.logoId === undefined ? {} : { logoId: (edits.logoId || null) as never }),
    ...(edits.jwksUri === undefined ? {} : { jwksUri: (edits.jwksUri.trim() || null) as never }),
    ...(edits.jwks === undefined ? {} : { jwks: (edits.jwks.trim() || null) as never }),
  }));
  const { values } = form;
  const { id: projectId } = useProject();
  const usage = useQuery(FactorStanding, { projectId }).data?.factorStanding;
  return (
    <>
      <Section title={t('Basics')}>
        <TextInput
          label={t('Name')}
          description={t('Shown on the sign-in page.')}
          maw="28rem"
          maxLength={200}
          {...form.field('name')}
        />
        <LogoField
          projectId={projectId}
          label={t('Logo')}
          hint={t('Shown on the account and consent pages. PNG, JPEG or WebP, up to 256 KB.')}
          ground="light"
          {...form.field('logoId')}
        />
      </Section>
      <Section title={t('Addresses')} lead={t('Users are redirected only to these URIs. No wildcards.')}>
        <RedirectUris placeholder={developmentUris[kindOf(client)]} {...form.field('redirectUris')} />
        <PostLogoutUris {...form.field('postLogoutRedirectUris')} />
        <TextInput
          label={t('Start address')}
          description={t('Empty: the account page has no link to the application.')}
          placeholder="https://app.example.com/"
          maw="28rem"
          {...form.field('startUri')}
        />
      </Section>
      <Section title={t('Authentication')} lead={t('Client authentication at the token endpoint.')}>
        <Authentication form={form} />
        <SwitchList of={signIn} form={form} />
      </Section>
      <SaveBar
        form={form}
        labels={labels}
        describe={describe}
        consequence={consequence(saved, values, usage)}
        isInvalid={[...values.redirectUris, ...values.postLogoutRedirectUris, values.startUri].some(addressFault)}
      />
    </>
  );
}

/** The application's keys and grants, and the signature of its ID tokens. */
function Authentication({ form }: { form: SettingsForm<Values> }) {
  const method = form.values.tokenEndpointAuthMethod;
  return (
    <>
      <Radios label={t('Authentication')} options={authMethods} {...form.field('tokenEndpointAuthMethod')} />
      {method === 'PRIVATE_KEY_JWT' && (
        <>
          <KeyPair {...form.field('jwks')} />
          <TextInput
            label={t('Key set address (jwks_uri)')}
            description={t('Used instead of the public key. Leave one of the two empty.')}
            placeholder="https://app.example.com/jwks.json"
            maw="28rem"
            {...form.field('jwksUri')}
          />
        </>
      )}
      <NativeSelect
        label={t('ID token signature')}
        description={t("At the project's issuer. The base issuer always signs with ES512.")}
        maw="28rem"
        data={optionsOf(algorithmNames)}
        {...form.field('idTokenSignedResponseAlg')}
      />
      {method !== 'NONE' && (
        <Switch
          label={t('Allow sign-in without PKCE')}
          description={t(
            "At the project's issuer. Risk: an attacker can inject a stolen code into another user's session.",
          )}
          {...form.toggle('pkceOptional')}
        />
      )}
      <Grants {...form.field('grantTypes')} isPublic={method === 'NONE'} />
    </>
  );
}

/** The effect of saving. */
function consequence(saved: Values, values: Values, usage: FactorStandingQuery['factorStanding'] | undefined) {
  const lost = saved.redirectUris.filter((uri) => !values.redirectUris.includes(uri)).length;
  const requiresPasskey = values.passkeyRequired && !saved.passkeyRequired;
  const stopped = values.relatedOrigins ? [] : usage?.pagesWithoutPasskeys.filter((name) => name === saved.name);
  const parts = [
    lost > 0 &&
      t(
        '{count, plural, one {Sign-ins that return to the removed address will be refused immediately.} other {Sign-ins that return to the # removed addresses will be refused immediately.}}',
        { count: lost },
      ),
    requiresPasskey && requiring(usage, stopped),
    requiresPasskey && amongRecent(usage),
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}

const authMethods = {
  NONE: { name: authMethodNames.NONE },
  PRIVATE_KEY_JWT: { name: authMethodNames.PRIVATE_KEY_JWT },
  CLIENT_SECRET_BASIC: { name: authMethodNames.CLIENT_SECRET_BASIC },
  CLIENT_SECRET_POST: { name: authMethodNames.CLIENT_SECRET_POST },
};

const labels: Record<keyof Values, string> = {
  name: t('Name'),
  redirectUris: t('Redirect URIs'),
  postLogoutRedirectUris: t('Post-logout redirect URIs'),
  tokenEndpointAuthMethod: t('Authentication'),
  jwks: t('Public key'),
  jwksUri: t('Key set address'),
  startUri: t('Start address'),
  logoId: t('Logo'),
  idTokenSignedResponseAlg: t('ID token signature'),
  pkceOptional: t('Sign-in without PKCE'),
  grantTypes: t('Grants'),
  ...labelsOf(signIn),
};

function describe(name: keyof Values, from: Values): string | string[] {
  if (name === 'tokenEndpointAuthMethod') return authMethodNames[from.tokenEndpointAuthMethod];
  if (name === 'jwks') return /"x":\s*"([^"]+)"/.exec(from.jwks)?.[1] ?? (from.jwks && t('another key'));
  if (name === 'jwksUri' || name === 'startUri') return from[name];
  if (name === 'logoId') return from.logoId ? t('another logo') : t('No logo');
  if (name === 'idTokenSignedResponseAlg') return algorithmNames[from.idTokenSignedResponseAlg];
  if (name === 'grantTypes') return grantNames(from.grantTypes);
  if (name === 'pkceOptional') return from.pkceOptional ? t('Allowed') : t('Refused');
  if (name === 'name') return from.name;
  const value = from[name];
  return Array.isArray(value) ? tidy(value) : value ? t('On') : t('Off');
}
