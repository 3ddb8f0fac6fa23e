import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { addressFault } from '../clients/redirect-fault.ts';
import { clientChange } from '../clients/use-client-form.ts';
import { LogoField } from '../experience/logo-field.tsx';
import { ClientById, SamlClient as SamlClientById, UpdateClient } from '../generated/operations.ts';
import { switches } from '../generated/switches.ts';
import { t } from '../language/language.ts';
import { useProject } from '../projects/project.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { ListField } from '../ui/forms/list-field.tsx';
import { optionsOf } from '../ui/forms/options.ts';
import { Radios } from '../ui/forms/radios.tsx';
import { SaveBar } from '../ui/forms/save-bar.tsx';
import { useSettingsForm } from '../ui/forms/settings-form.ts';
import { labelsOf, SwitchList } from '../ui/forms/switches.tsx';
import { monospace, verbatim } from '../ui/forms/verbatim.ts';
import { Section } from '../ui/layout/page.tsx';
import { ApplicationWarnings } from './application-warnings.tsx';
import { certificatesIn } from './certificates.ts';
import { inputOf, type SamlClient, type Values, valuesOf } from './settings-values.ts';

const { saml: samlSwitches } = switches.Client;

const nameIds = {
  PERSISTENT: { name: t('Persistent'), hint: t('The user ID (sub). Never changes, even if the address does.') },
  PAIRWISE: { name: t('Pairwise'), hint: t('Never changes, and differs in each application.') },
  EMAIL: { name: t('Email'), hint: t('The login address. Changes with it.') },
  TRANSIENT: { name: t('Transient'), hint: t('A new value in each session.') },
  ATTRIBUTE: { name: t('Claim of the user'), hint: t('A claim that identifies one user, such as preferred_username.') },
} as const;

const signedParts = {
  BOTH: t('Response and assertion'),
  ASSERTION: t('Assertion'),
  RESPONSE: t('Response'),
} as const;

const labels: Record<keyof Values, string> = {
  name: t('Name'),
  logoId: t('Logo'),
  startUri: t('Start address'),
  samlEntityId: t('Entity ID'),
  samlMetadataUrl: t('Metadata address of the application'),
  redirectUris: t('ACS URLs'),
  samlNameId: 'NameID',
  samlNameIdAttribute: t('Claim of the NameID'),
  samlSigned: t('Signed parts'),
  samlCertificates: t('Request certificates'),
  samlEncryptionCertificate: t('Encryption certificate'),
  samlLogoutUri: t('Single logout URL'),
  samlLogoutResponseUri: t('Logout response URL'),
  samlLogoutSoapUri: t('Single logout URL (SOAP)'),
  ...labelsOf(samlSwitches),
};

/** Settings of a SAML application. */
export function SamlSettings(props: ClientPartProps) {
  const { data, failure, reload } = useQuery(SamlClientById, { id: props.client.id });
  const saml = data?.client;
  if (failure && !saml) return <LoadError failure={failure} subject={t('the SAML settings')} retry={reload} />;
  return saml ? <Form {...props} saml={saml} /> : <PageSkeleton />;
}

function Form({ client, saml, mayChange }: ClientPartProps & { saml: SamlClient }) {
  const { id: projectId } = useProject();
  const saved = useMemo(() => valuesOf(client, saml), [client, saml]);
  const form = useSettingsForm({
    saved,
    mayChange,
    operation: UpdateClient,
    variables: (edits) => clientChange(client, inputOf(edits)),
    invalidates: [ClientById, SamlClientById],
  });
  const { values } = form;
  const { error: _, ...nameId } = form.field('samlNameId');
  const certificate = { autosize: true, minRows: 2, maxRows: 8, maw: '44rem', styles: monospace, ...verbatim };
  return (
    <>
      <ApplicationWarnings saml={saml} />
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
        <TextInput
          label={t('Start address')}
          description={t('Empty: the account page has no link to the application.')}
          placeholder="https://app.example.com/"
          maw="28rem"
          {...form.field('startUri')}
        />
      </Section>
      <Section title={t('Service provider')} lead={t('As in the metadata of the application.')}>
        <TextInput
          label={t('Entity ID')}
          description={t('Must match exactly. Unique in the project.')}
          maw="44rem"
          maxLength={1024}
          styles={monospace}
          {...verbatim}
          {...form.field('samlEntityId')}
        />
        <AcsUrls {...form.field('redirectUris')} />
        <TextInput
          label={t('Metadata address of the application')}
          description={t('Read daily for new certificates. Empty: certificates change only here.')}
          placeholder="https://app.example.com/saml/metadata"
          maw="44rem"
          {...verbatim}
          {...form.field('samlMetadataUrl')}
        />
        <TextInput
          label={t('Single logout URL')}
          description={t('Where logout requests and responses go (HTTP-Redirect). Needs a certificate.')}
          placeholder="https://app.example.com/saml/slo"
          maw="44rem"
          {...verbatim}
          {...form.field('samlLogoutUri')}
        />
        {(values.samlLogoutUri || values.samlLogoutResponseUri) && (
          <TextInput
            label={t('Logout response URL')}
            description={t('Empty: responses go to the single logout URL.')}
            maw="44rem"
            {...verbatim}
            {...form.field('samlLogoutResponseUri')}
          />
        )}
        <TextInput
          label={t('Single logout URL (SOAP)')}
          description={t('This server sends logout requests there, also when no browser is involved.')}
          placeholder="https://app.example.com/saml/slo/soap"
          maw="44rem"
          {...verbatim}
          {...form.field('samlLogoutSoapUri')}
        />
      </Section>
      <Section title={t('Responses')}>
        <Radios label="NameID" isLabelled options={nameIds} {...nameId} />
        {values.samlNameId === 'ATTRIBUTE' && (
          <TextInput
            label={t('Claim of the NameID')}
            maw="28rem"
            maxLength={256}
            {...verbatim}
            {...form.field('samlNameIdAttribute')}
          />
        )}
        <NativeSelect
          label={t('Signed parts')}
          maw="28rem"
          data={optionsOf(signedParts)}
          {...form.field('samlSigned')}
        />
        <Textarea
          label={t('Encryption certificate')}
          description={t('With an RSA key. Empty: assertions are not encrypted.')}
          placeholder="-----BEGIN CERTIFICATE-----"
          {...certificate}
          {...form.field('samlEncryptionCertificate')}
        />
      </Section>
      <Section title={t('Requests')}>
        <Textarea
          label={t('Request certificates')}
          description={t('Up to 5, one below the other: enter the next one before the application changes to it.')}
          placeholder="-----BEGIN CERTIFICATE-----"
          {...certificate}
          {...form.field('samlCertificates')}
        />
        <SwitchList of={samlSwitches} form={form} />
      </Section>
      <SaveBar
        form={form}
        labels={labels}
        describe={describe}
        consequence={consequence(saved, values)}
        isInvalid={[
          ...values.redirectUris,
          values.samlMetadataUrl,
          values.samlLogoutUri,
          values.samlLogoutResponseUri,
          values.samlLogoutSoapUri,
        ].some(addressFault)}
      />
    </>
  );
}

interface AcsUrlsProps {
  value: readonly string[];
  onChange(uris: string[]): void;
  error?: string | undefined;
  disabled?: boolean;
}

/** Assertion consumer services; the first is the default. */
export function AcsUrls(props: AcsUrlsProps) {
  return (
    <ListField
      label={t('ACS URLs')}
      hint={t('Responses are sent only there. Must match exactly; the first is the default.')}
      one={t('ACS URL')}
      placeholder="https://app.example.com/saml/acs"
      fault={addressFault}
      {...props}
    />
  );
}

/** The effect of saving. */
function consequence(saved: Values, values: Values): string | undefined {
  const parts = [
    values.samlEntityId !== saved.samlEntityId && t('Requests with the former entity ID are refused immediately.'),
    (values.samlNameId !== saved.samlNameId || values.samlNameIdAttribute !== saved.samlNameIdAttribute) &&
      t('The application may treat its users as new ones.'),
    values.samlRequestsSigned &&
      !saved.samlRequestsSigned &&
      t('Requests without a signature are refused immediately.'),
    saved.redirectUris.some((uri) => !values.redirectUris.includes(uri)) &&
      t('Sign-ins at removed ACS URLs are refused immediately.'),
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}

function describe(name: keyof Values, from: Values): string | readonly string[] {
  if (name === 'samlNameId') return nameIds[from.samlNameId].name;
  if (name === 'samlSigned') return signedParts[from.samlSigned];
  if (name === 'logoId') return from.logoId ? t('another logo') : t('No logo');
  if (name === 'samlCertificates' || name === 'samlEncryptionCertificate') {
    const count = certificatesIn(from[name]).length;
    return t('{count, plural, =0 {none} one {# certificate} other {# certificates}}', { count });
  }
  const value = from[name];
  return typeof value === 'boolean' ? (value ? t('On') : t('Off')) : value;
}
