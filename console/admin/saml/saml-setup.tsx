import { useQuery } from '../api.ts';
import type { ClientPartProps } from '../clients/client-part.ts';
import { SamlIdentityProvider } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';
import { ProviderValues } from './provider-values.tsx';
import { SigningCertificates } from './signing-certificates.tsx';

/** What to enter in the SAML application. */
export function SamlSetup({ client, mayChange }: ClientPartProps) {
  const { id: projectId, issuer } = useProject();
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(SamlIdentityProvider, { projectId });
  if (failure && !data) return <LoadError failure={failure} subject={t('the SAML values')} retry={reload} />;
  const provider = data?.samlIdentityProvider;
  return (
    <>
      <ProviderValues
        provider={provider}
        title={t('Values for the application')}
        lead={t('Enter them in {name}, as those of its identity provider.', { name: client.name })}
      />
      {client.samlIdpInitiated && (
        <Section
          title={t('IdP-initiated sign-in')}
          lead={t('For portals and bookmarks: signs in, then opens the application.')}
        >
          <CopyField label={t('Start address')} value={`${issuer}/saml/start/${client.id}`} />
        </Section>
      )}
      <SigningCertificates certificates={provider?.certificates} mayChange={mayChange} />
      <Section
        title={t('Attributes')}
        lead={t('The claims of the user, by name. Add others, such as a role, under Claims.')}
        actions={<LinkButton to={path(`applications/${client.id}/claims`)}>{t('Claims')}</LinkButton>}
      />
    </>
  );
}
