import { Alert, Button, FileButton, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useAccess } from '../access.tsx';
import { send, useMutation } from '../api.ts';
import { addressFault } from '../clients/redirect-fault.ts';
import { type Failure, faultAt, type RequestError } from '../failure.ts';
import { Clients, CreateClient, SamlServiceProvider, type SamlServiceProviderQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { tidy } from '../ui/forms/list-field.tsx';
import { monospace, verbatim } from '../ui/forms/verbatim.ts';
import { Page, Section } from '../ui/layout/page.tsx';
import { ProductPicker, type ProductSettings } from './product-picker.tsx';
import { AcsUrls } from './saml-settings.tsx';

/** The address of the metadata, if it was read there. */
type ReadProvider = SamlServiceProviderQuery['samlServiceProvider'] & { samlMetadataUrl: string | null };
type ServiceProvider = ReadProvider & Pick<ProductSettings, 'samlNameId'>;

const none: ServiceProvider = {
  samlMetadataUrl: null,
  samlNameId: 'PERSISTENT',
  samlEntityId: '',
  redirectUris: [],
  samlCertificates: [],
  samlEncryptionCertificate: null,
  samlRequestsSigned: false,
  samlLogoutUri: null,
  samlLogoutResponseUri: null,
  samlLogoutSoapUri: null,
};

/** Creates a SAML application from its metadata, or from its entity ID and ACS URL. */
export function CreateSamlPage() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  return (
    <Page
      title={t('Create SAML application')}
      lead={t('For products that sign in by SAML 2.0')}
      back={{ to: path('applications'), label: t('Applications') }}
      narrow
    >
      {mayChange ? (
        <Form />
      ) : (
        <Alert>
          {t('Only project admins create applications. You are a viewer of {name}.', { name: project.name })}
        </Alert>
      )}
    </Page>
  );
}

function Form() {
  const { id: projectId } = useProject();
  const path = useProjectPath();
  const navigate = useNavigate();
  const [parameters] = useSearchParams();
  const [name, setName] = useState(parameters.get('name') ?? '');
  const [provider, setProvider] = useState(none);
  const [create, busy, failure] = useMutation(CreateClient, [Clients]);
  const set = (change: Partial<ServiceProvider>) => setProvider((before) => ({ ...before, ...change }));
  const redirectUris = tidy(provider.redirectUris);
  const input = { projectId, name: name.trim(), ...provider, samlEntityId: provider.samlEntityId.trim(), redirectUris };
  const isComplete = input.name !== '' && input.samlEntityId !== '' && redirectUris.length > 0;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!isComplete || busy || redirectUris.some(addressFault)) return;
    const { data } = await create({ input });
    if (!data) return;
    const { client } = data.createClient;
    toast(t('{name} created', { name: client.name }));
    void navigate(path(`applications/${client.id}`));
  };
  return (
    <>
      <ProductPicker
        onChange={({ name: product, ...settings }) => {
          setName(product);
          setProvider({ ...none, ...settings });
        }}
      />
      <Metadata projectId={projectId} onRead={(read) => setProvider(({ samlNameId }) => ({ ...read, samlNameId }))} />
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Section title={t('Application')}>
          <TextInput
            label={t('Name')}
            description={t('Shown on the sign-in page.')}
            maxLength={200}
            value={name}
            error={faultAt(failure, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label={t('Entity ID')}
            description={t('Must match exactly. Unique in the project.')}
            maxLength={1024}
            styles={monospace}
            {...verbatim}
            value={provider.samlEntityId}
            error={faultAt(failure, 'samlEntityId')}
            onChange={(event) => set({ samlEntityId: event.currentTarget.value })}
          />
          <AcsUrls
            value={provider.redirectUris}
            error={faultAt(failure, 'redirectUris')}
            onChange={(uris) => set({ redirectUris: uris })}
          />
          <Found provider={provider} />
          <FormError failure={failure} except={['name', 'samlEntityId', 'redirectUris']} />
          <Group justify="space-between">
            <ShowGraphql operation={CreateClient} variables={{ input }} />
            <Button type="submit" loading={busy} disabled={!isComplete}>
              {t('Create application')}
            </Button>
          </Group>
        </Section>
      </form>
    </>
  );
}

/** Other settings that the metadata has. */
function Found({ provider }: { provider: ServiceProvider }) {
  const { samlCertificates, samlEncryptionCertificate, samlLogoutSoapUri, samlLogoutUri, samlRequestsSigned } =
    provider;
  const found = [
    samlCertificates.length > 0 &&
      t('{count, plural, one {# certificate for requests} other {# certificates for requests}}', {
        count: samlCertificates.length,
      }),
    samlRequestsSigned && t('signed requests required'),
    samlEncryptionCertificate !== null && t('assertions encrypted'),
    (samlLogoutUri !== null || samlLogoutSoapUri !== null) && t('single logout'),
  ].filter(Boolean);
  if (found.length === 0) return null;
  return <p>{t('Also from the metadata: {found}.', { found: found.join(', ') })}</p>;
}

interface MetadataProps {
  projectId: string;
  onRead(provider: ReadProvider): void;
}

/** Fills in the form from the metadata of the application. */
function Metadata({ projectId, onRead }: MetadataProps) {
  const [metadata, setMetadata] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const read = async (text: string) => {
    setMetadata(text);
    setBusy(true);
    setFailure(undefined);
    try {
      const given = /^https?:\/\/\S+$/.test(text.trim())
        ? { metadataUrl: text.trim() }
        : { metadata: text, metadataUrl: undefined };
      const { samlServiceProvider } = await send(SamlServiceProvider, { projectId, ...given });
      onRead({ ...samlServiceProvider, samlMetadataUrl: given.metadataUrl ?? null });
      toast(t('Metadata read'));
    } catch (error) {
      setFailure(error as RequestError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section
      title={t('Metadata')}
      lead={t('Most applications offer their metadata as a file or at an address. Or fill in the form below.')}
    >
      <Stack gap="sm">
        <Textarea
          aria-label={t('Metadata of the application, or its address')}
          placeholder="<EntityDescriptor …>"
          autosize
          minRows={3}
          maxRows={10}
          styles={monospace}
          {...verbatim}
          value={metadata}
          error={faultAt(failure, 'metadata') ?? faultAt(failure, 'metadataUrl')}
          onChange={(event) => setMetadata(event.currentTarget.value)}
        />
        <FormError failure={failure} except={['metadata', 'metadataUrl']} />
        <Group gap="xs">
          <SecondaryButton loading={busy} disabled={metadata.trim() === ''} onClick={() => void read(metadata)}>
            {t('Read metadata')}
          </SecondaryButton>
          <FileButton
            accept=".xml,text/xml,application/xml,application/samlmetadata+xml"
            onChange={(file) => file && void file.text().then(read)}
          >
            {(props) => <SecondaryButton {...props}>{t('Open file')}</SecondaryButton>}
          </FileButton>
        </Group>
      </Stack>
    </Section>
  );
}
