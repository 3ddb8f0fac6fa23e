import { Radio, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { UpdateClient } from '../generated/operations.ts';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { useDraft } from '../ui/forms/draft.ts';
import { ListField, tidy } from '../ui/forms/list-field.tsx';
import { type Change, SaveBar } from '../ui/forms/save-bar.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { ClientPartProps } from './client-part.ts';
import styles from './client-settings.module.css';
import { KeyPair } from './keys/key-pair.tsx';
import { authMethodNames } from './kind.ts';
import { addressFault } from './redirect-fault.ts';
import { useClientForm } from './use-client-form.ts';

interface Values {
  name: string;
  redirectUris: readonly string[];
  postLogoutRedirectUris: readonly string[];
  tokenEndpointAuthMethod: keyof typeof authMethodNames;
  jwks: string;
  pkceRequired: boolean;
}

/** Name, redirect URIs and client authentication. */
export function ClientSettings({ client, mayChange }: ClientPartProps) {
  const saved = useMemo<Values>(
    () => ({
      name: client.name,
      redirectUris: client.redirectUris,
      postLogoutRedirectUris: client.postLogoutRedirectUris,
      tokenEndpointAuthMethod: client.tokenEndpointAuthMethod,
      jwks: client.jwks ? JSON.stringify(client.jwks, null, 2) : '',
      pkceRequired: client.pkceRequired,
    }),
    [client],
  );
  const { values, set, changed, edits, settle, reset } = useDraft(saved);
  const { save, busy, failure, faultOf, clear } = useClientForm(client);
  const input = {
    ...edits,
    ...(edits.redirectUris ? { redirectUris: tidy(edits.redirectUris) } : {}),
    ...(edits.postLogoutRedirectUris ? { postLogoutRedirectUris: tidy(edits.postLogoutRedirectUris) } : {}),
    ...(edits.jwks === undefined ? {} : { jwks: edits.jwks.trim() || null }),
  } as Record<string, never>;
  const lost = saved.redirectUris.filter((uri) => !values.redirectUris.includes(uri)).length;
  return (
    <>
      <Section title="Basics">
        <TextInput
          className={styles.name}
          label="Name"
          description="Shown on the sign-in page."
          value={values.name}
          disabled={!mayChange}
          maxLength={200}
          error={faultOf('name')}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
      </Section>
      <Section title="Addresses" lead="Users are redirected only to these URIs. No wildcards.">
        <ListField
          label="Redirect URIs"
          hint="Must match exactly. Their origins are also allowed by CORS."
          one="redirect URI"
          placeholder="https://app.example.com/callback"
          values={values.redirectUris}
          disabled={!mayChange}
          fault={addressFault}
          error={faultOf('redirectUris')}
          onChange={(uris) => set('redirectUris', uris)}
        />
        <ListField
          label="Post-logout redirect URIs"
          hint="Allowed destinations after sign-out."
          one="post-logout URI"
          placeholder="https://app.example.com/"
          values={values.postLogoutRedirectUris}
          disabled={!mayChange}
          fault={addressFault}
          error={faultOf('postLogoutRedirectUris')}
          onChange={(uris) => set('postLogoutRedirectUris', uris)}
        />
      </Section>
      <Section title="Authentication" lead="Client authentication at the token endpoint.">
        <Radio.Group
          aria-label="Authentication"
          value={values.tokenEndpointAuthMethod}
          onChange={(value) => set('tokenEndpointAuthMethod', value as Values['tokenEndpointAuthMethod'])}
        >
          <div className={styles.radios}>
            {Object.entries(authMethodNames).map(([value, label]) => (
              <Radio key={value} value={value} label={label} disabled={!mayChange} />
            ))}
          </div>
        </Radio.Group>
        {values.tokenEndpointAuthMethod === 'PRIVATE_KEY_JWT' && (
          <KeyPair
            value={values.jwks}
            onChange={(jwks) => set('jwks', jwks)}
            error={faultOf('jwks')}
            disabled={!mayChange}
          />
        )}
        <Switch
          label="Require PKCE for SDK sign-in"
          description="Sign-in without a code challenge fails. Redirect flows always need one."
          checked={values.pkceRequired}
          disabled={!mayChange}
          error={faultOf('pkceRequired')}
          onChange={(event) => set('pkceRequired', event.currentTarget.checked)}
        />
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
        changes={changed.map((name) => changeOf(name, saved, values))}
        busy={busy}
        failure={failure}
        consequence={
          lost > 0 &&
          `Sign-ins that return to the ${lost === 1 ? 'removed address' : `${lost} removed addresses`} will be refused at once.`
        }
        onSave={async () => {
          if ([...values.redirectUris, ...values.postLogoutRedirectUris].some((uri) => addressFault(uri))) return;
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
  name: 'Name',
  redirectUris: 'Redirect URIs',
  postLogoutRedirectUris: 'Post-logout redirect URIs',
  tokenEndpointAuthMethod: 'Authentication',
  jwks: 'Public key',
  pkceRequired: 'PKCE for SDK sign-in',
};

function changeOf(name: keyof Values, saved: Values, values: Values): Change {
  const describe = (from: Values) =>
    name === 'tokenEndpointAuthMethod'
      ? authMethodNames[from.tokenEndpointAuthMethod]
      : name === 'jwks'
        ? (/"x":\s*"([^"]+)"/.exec(from.jwks)?.[1] ?? (from.jwks && 'another key'))
        : name === 'pkceRequired'
          ? from.pkceRequired
            ? 'Required'
            : 'Optional'
          : name === 'name'
            ? from.name
            : tidy(from[name]);
  return { label: labels[name], before: describe(saved), after: describe(values) };
}
