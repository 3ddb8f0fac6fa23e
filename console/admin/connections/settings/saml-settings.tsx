import { NativeSelect, Switch, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { t } from '../../language/language.ts';
import { AddressCode } from '../../ui/breakable.tsx';
import { optionsOf } from '../../ui/forms/options.ts';
import { SaveBar } from '../../ui/forms/save-bar.tsx';
import { monospace, verbatim } from '../../ui/forms/verbatim.ts';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, DataTable } from '../../ui/lists/data-table.tsx';
import { Facts } from '../../ui/lists/facts.tsx';
import { Time } from '../../ui/time.tsx';
import type { Connection, ConnectionPartProps } from '../connection-part.ts';
import { SamlMetadata } from './saml-metadata.tsx';
import { isOfSaml, type SamlValues, samlInputOf, samlValuesOf } from './settings-values.ts';
import { NameSection, sharedLabels, UserSections } from './shared-settings.tsx';
import { useConnectionForm } from './use-connection-form.ts';

type Saml = NonNullable<Connection['saml']>;

const signedParts = {
  EITHER: t('Assertion or response'),
  ASSERTION: t('Assertion'),
  RESPONSE: t('Response'),
  BOTH: t('Response and assertion'),
} as const;

const nameIds = {
  PERSISTENT: t('Persistent'),
  EMAIL: t('Email'),
  ANY: t('As the provider is configured'),
} as const;

const labels: Record<keyof SamlValues, string> = {
  ...sharedLabels,
  signed: t('Signed parts'),
  nameId: t('NameID format'),
  emailAttribute: t('Attribute with the mail address'),
  vouchesForEmail: t('Trust its mail addresses'),
  allowsSha1: t('Accept SHA-1'),
  allowsCbc: t('Accept AES-CBC'),
};

/** Settings of a SAML provider, and of the users who sign in by it. */
export function SamlConnectionSettings(props: ConnectionPartProps) {
  const { saml } = props.connection;
  return saml && <Form {...props} saml={saml} />;
}

function Form({ connection, saml, mayChange }: ConnectionPartProps & { saml: Saml }) {
  const saved = useMemo(() => samlValuesOf(connection, saml), [connection, saml]);
  const form = useConnectionForm(connection, mayChange, saved, (edits) => samlInputOf(saved, edits));
  const isTested = form.changed.some(isOfSaml);
  return (
    <>
      <NameSection form={form} />
      <Provider saml={saml} />
      <Section title={t('Metadata')}>
        <SamlMetadata connection={connection} mayChange={mayChange} />
      </Section>
      <Section title={t('Answers')}>
        <NativeSelect
          label={labels.signed}
          description={t('The parts that the provider must sign.')}
          maw="28rem"
          data={optionsOf(signedParts)}
          {...form.field('signed')}
        />
        <NativeSelect
          label={labels.nameId}
          description={t('Users are recognized by it: after a change, they prove their account again.')}
          maw="28rem"
          data={optionsOf(nameIds)}
          {...form.field('nameId')}
        />
        <TextInput
          label={labels.emailAttribute}
          description={t('Empty: one with a usual name, such as mail.')}
          maw="28rem"
          maxLength={255}
          styles={monospace}
          {...verbatim}
          {...form.field('emailAttribute')}
        />
        <Switch
          label={labels.vouchesForEmail}
          description={t('Users are created without a code. Only if its users cannot choose their address.')}
          {...form.toggle('vouchesForEmail')}
        />
        <Switch
          label={labels.allowsSha1}
          description={t('Weak signatures. Only for providers that support nothing else.')}
          {...form.toggle('allowsSha1')}
        />
        <Switch
          label={labels.allowsCbc}
          description={t('Default of AD FS and Entra ID for encryption. Prefer AES-GCM.')}
          {...form.toggle('allowsCbc')}
        />
      </Section>
      <UserSections connection={connection} form={form} />
      <SaveBar
        form={form}
        labels={labels}
        describe={describe}
        consequence={isTested ? t('Sign-ins and tests in progress fail.') : undefined}
      />
    </>
  );
}

const columns: readonly Column<Saml['certificates'][number]>[] = [
  {
    header: t('Fingerprint (SHA-256)'),
    isName: true,
    width: '70%',
    cell: ({ fingerprint }) => <code style={{ overflowWrap: 'anywhere' }}>{fingerprint}</code>,
  },
  { header: t('Expires'), cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];

/** What its metadata says. */
function Provider({ saml }: { saml: Saml }) {
  if (saml.entityId === '') return null;
  return (
    <Section title={t('Provider')} lead={t('From its metadata')}>
      <Facts
        labelWidth="10rem"
        facts={[
          [t('Entity ID'), <AddressCode key="entity" text={saml.entityId} />],
          [t('Single sign-on URL'), <AddressCode key="sso" text={saml.ssoUrl} />],
          [t('Metadata read'), <Time key="read" at={saml.metadataCheckedAt} />],
        ]}
      />
      <DataTable
        dense
        label={t('Certificates')}
        columns={columns}
        rows={saml.certificates}
        keyOf={({ fingerprint }) => fingerprint}
      />
    </Section>
  );
}

function describe(name: keyof SamlValues, from: SamlValues): string {
  if (name === 'signed') return signedParts[from.signed];
  if (name === 'nameId') return nameIds[from.nameId];
  const value = from[name];
  return typeof value === 'boolean' ? (value ? t('On') : t('Off')) : value;
}
