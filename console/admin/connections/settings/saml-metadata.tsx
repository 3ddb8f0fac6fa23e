import { Alert, Button, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useMutation } from '../../api.ts';
import { faultAt } from '../../failure.ts';
import { UpdateConnection } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { rich } from '../../language/rich.tsx';
import { CopyField } from '../../ui/code/copy.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { monospace, verbatim } from '../../ui/forms/verbatim.ts';
import { Time } from '../../ui/time.tsx';
import type { Connection, ConnectionPartProps } from '../connection-part.ts';
import { stale } from '../connection-state.tsx';
import { lastExpiry } from '../health.ts';

type Saml = NonNullable<Connection['saml']>;

/** Our addresses, to enter at the provider. */
export function SamlAddresses({ callback }: { callback: Connection['callback'] }) {
  return (
    <>
      <p>{t('There, enter the metadata address, or the two values below it:')}</p>
      <CopyField label={t('Metadata address')} value={callback.metadataUrl ?? ''} />
      <CopyField
        label={t('ACS URL')}
        value={callback.acsUrl ?? ''}
        hint={t('Also called reply URL or single sign-on URL')}
      />
      <CopyField
        label={t('Entity ID')}
        value={callback.entityId ?? ''}
        hint={t('Also called audience or identifier')}
      />
    </>
  );
}

/** Reads the metadata of the provider, by its address or as text. */
export function SamlMetadata({ connection: { id, saml }, mayChange }: ConnectionPartProps) {
  const [update, busy, failure] = useMutation(UpdateConnection, stale);
  const [url, setUrl] = useState<string>();
  const [xml, setXml] = useState('');
  const address = url ?? saml?.metadataUrl ?? '';
  const isByText = xml.trim() !== '';
  const read = async () => {
    const source = isByText ? { metadataXml: xml } : { metadataUrl: address.trim() };
    const { data } = await update({ input: { id, saml: source } });
    if (!data) return;
    setXml('');
    setUrl(undefined);
    toast(t('Metadata read'));
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void read();
      }}
    >
      <Stack gap="sm">
        <p>{t('Enter the metadata of the provider here, by its address or as text:')}</p>
        <TextInput
          label={t('Metadata address of the provider')}
          description={t('Read now and daily, so that its new certificates arrive by themselves.')}
          placeholder="https://idp.acme.example/metadata"
          maw="36rem"
          maxLength={2048}
          styles={monospace}
          {...verbatim}
          disabled={!mayChange || isByText}
          value={address}
          error={faultAt(failure, 'metadataUrl')}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Textarea
          label={t('Or the metadata itself (XML)')}
          placeholder="<EntityDescriptor …>"
          autosize
          minRows={2}
          maxRows={8}
          maw="36rem"
          styles={monospace}
          {...verbatim}
          disabled={!mayChange}
          value={xml}
          error={faultAt(failure, 'metadataXml')}
          onChange={(event) => setXml(event.currentTarget.value)}
        />
        <FormError failure={failure} except={['metadataUrl', 'metadataXml']} />
        {mayChange && (
          <div>
            <Button type="submit" loading={busy} disabled={!isByText && address.trim() === ''}>
              {t('Read metadata')}
            </Button>
          </div>
        )}
      </Stack>
    </form>
  );
}

const faults = {
  UNREACHABLE: t('No answer in 5 seconds, more than 512 KB, a redirect, or a private address.'),
  INVALID: t('The document is no metadata of one identity provider.'),
  CERTIFICATES: t('The document has no valid certificate.'),
  ENTITY_ID: t('The document names another provider.'),
} as const;

const warningMilliseconds = 30 * 24 * 3600 * 1000;

/** Metadata that cannot be read, and certificates that expire within 30 days. */
export function SamlWarnings({ saml }: { saml: Saml }) {
  const expiry = lastExpiry(saml.certificates);
  const isExpiring = expiry !== undefined && Date.parse(expiry) < Date.now() + warningMilliseconds;
  return (
    <>
      {saml.metadataFault && (
        <Alert color="note" title={t('The metadata of the provider cannot be applied')}>
          {faults[saml.metadataFault]} {t('The former settings stay.')}
        </Alert>
      )}
      {isExpiring && (
        <Alert color="note" title={t('The last certificate of the provider expires soon')}>
          {rich('It expires <time></time>. Then sign-ins fail. Read its new metadata before.', {
            time: () => <Time at={expiry} />,
          })}
        </Alert>
      )}
    </>
  );
}
