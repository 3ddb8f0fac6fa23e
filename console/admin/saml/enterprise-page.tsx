import { Alert } from '@mantine/core';
import { useAccess } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Tokens } from '../directories/scim-tokens.tsx';
import { SamlIdentityProvider, ScimTokens } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { settings } from '../settings.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { ProviderValues } from './provider-values.tsx';
import { SigningCertificates } from './signing-certificates.tsx';

/** The SAML values, certificates and SCIM tokens of a project on one page. */
export function EnterprisePage() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const saml = useQuery(SamlIdentityProvider, { projectId: project.id });
  const scim = useQuery(ScimTokens, { projectId: project.id }, { everySeconds: 15 });
  const provider = saml.data?.samlIdentityProvider;
  if (project.builtIn === 'CONSOLE') {
    return (
      <Page title={t('Enterprise credentials')} narrow>
        <Alert title={t('Not available')}>{t('Admins of this instance sign in through this project.')}</Alert>
      </Page>
    );
  }
  return (
    <Page title={t('Enterprise credentials')} lead={t('What SAML applications and directories ask for, on one page')}>
      {!mayChange && <ViewerNotice project={project} />}
      {saml.failure && !saml.data ? (
        <LoadError failure={saml.failure} subject={t('the SAML values')} retry={saml.reload} />
      ) : (
        <>
          <ProviderValues
            provider={provider}
            title={t('SAML identity provider')}
            lead={t('The same for all SAML applications of this project.')}
            actions={
              mayChange && (
                <LinkButton to={path('applications/saml')} size="xs">
                  {t('Create SAML application')}
                </LinkButton>
              )
            }
          />
          <SigningCertificates certificates={provider?.certificates} mayChange={mayChange} />
        </>
      )}
      <Section
        title={t('SCIM provisioning')}
        lead={
          project.scimEnabled
            ? t('For the directory that manages the users of this project.')
            : t('Off: requests return 404. Turn it on under Directory sync.')
        }
        actions={
          <LinkButton to={path('directory')} size="xs">
            {t('Directory sync')}
          </LinkButton>
        }
      >
        <CopyField label={t('SCIM address')} value={`${settings.issuer}/v1/scim/${project.id}`} />
      </Section>
      {scim.failure && !scim.data ? (
        <LoadError failure={scim.failure} subject={t('the directory')} retry={scim.reload} />
      ) : (
        <Tokens owner={{ projectId: project.id }} tokens={scim.data?.scimTokens} mayChange={mayChange} />
      )}
    </Page>
  );
}
