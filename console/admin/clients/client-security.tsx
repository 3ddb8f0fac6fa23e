import { useMemo } from 'react';
import { switches } from '../generated/switches.ts';
import { t } from '../language/language.ts';
import { pick } from '../ui/forms/pick.ts';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { labelsOf, SwitchList } from '../ui/forms/switches.tsx';
import { Section } from '../ui/layout/page.tsx';
import type { Client, ClientPartProps } from './client-part.ts';
import { authMethodNames } from './kind.ts';
import { useClientForm } from './use-client-form.ts';

const { dpop, pushedRequests, fapi } = switches.Client;
const labels = labelsOf({ ...dpop, ...pushedRequests, ...fapi });
type Name = keyof typeof labels;

/** Requirements for the application's requests: DPoP, pushed requests, FAPI 2.0. */
export function ClientSecurity({ client, mayChange }: ClientPartProps) {
  const saved = useMemo(() => pick(client, ...(Object.keys(labels) as Name[])), [client]);
  const form = useClientForm(client, mayChange, saved, (edits) => edits);
  const { values } = form;
  const missing = values.fapiProfile ? missingForFapi(client) : [];
  return (
    <>
      <Section
        title={t('DPoP')}
        lead={t('Binds tokens to a key of the application, so that stolen ones are useless (RFC 9449).')}
      >
        <SwitchList of={dpop} form={form} />
      </Section>
      <Section title={t('Pushed requests')} lead={t('Keeps the sign-in request out of the browser (RFC 9126).')}>
        <SwitchList of={pushedRequests} form={form} />
      </Section>
      <Section title={t('FAPI 2.0')} lead={t('A security profile for banks and other high-security applications.')}>
        <SwitchList of={fapi} form={form} />
      </Section>
      <SaveBar
        form={form}
        labels={labels}
        describe={(name, from) => (from[name] ? t('On') : t('Off'))}
        consequence={
          missing.length > 0
            ? t('Before FAPI 2.0, change: {missing}.', { missing: missing.join('; ') })
            : consequenceOf(saved, values)
        }
        isInvalid={missing.length > 0}
      />
    </>
  );
}

function consequenceOf(saved: Record<Name, boolean>, values: Record<Name, boolean>): string | undefined {
  const tightened = Object.keys(labels).some((name) => values[name as Name] && !saved[name as Name]);
  return tightened
    ? t(
        'Requests that do not comply are refused immediately, refreshes included. Check first that the application supports it.',
      )
    : undefined;
}

/** Settings that contradict the profile; the server refuses them, too. */
function missingForFapi({
  tokenEndpointAuthMethod,
  idTokenSignedResponseAlg,
  grantTypes,
  redirectUris,
}: Client): string[] {
  return [
    tokenEndpointAuthMethod !== 'PRIVATE_KEY_JWT' &&
      t('Authentication: {method}', { method: authMethodNames.PRIVATE_KEY_JWT }),
    !['ES256', 'EDDSA'].includes(idTokenSignedResponseAlg) && t('ID token signature: ES256 or EdDSA'),
    grantTypes.includes('DEVICE_CODE') && t('Sign-in from devices: off'),
    redirectUris.some((uri) => !uri.startsWith('https:')) && t('Redirect URIs: https only'),
  ].filter((one) => one !== false);
}
