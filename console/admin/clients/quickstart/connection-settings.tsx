import { SimpleGrid } from '@mantine/core';
import { t } from '../../language/language.ts';
import { useProject } from '../../projects/project.tsx';
import { settings } from '../../settings.ts';
import { CopyField } from '../../ui/code/copy.tsx';
import { Section } from '../../ui/layout/page.tsx';
import type { Client } from '../client-part.ts';
import { issuerAdvice, needsProjectIssuer } from '../issuer-advice.ts';
import { scopesOf } from './values.ts';

/** The values that products and libraries ask for, except secrets; the issuers that fit. */
export function ConnectionSettings({
  client,
  publishableKey,
}: {
  client: Client;
  publishableKey?: string | undefined;
}) {
  const project = useProject();
  return (
    <Section title={t('Connection settings')} lead={issuerAdvice(client)}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {!needsProjectIssuer(client) && <CopyField label={t('Base issuer')} value={settings.issuer} />}
        <CopyField label={t('Project issuer')} value={project.issuer} />
        <CopyField label={t('Client ID')} value={client.id} />
        {publishableKey && <CopyField label={t('Publishable key')} value={publishableKey} />}
        {needsProjectIssuer(client) && <ProductSettings issuer={project.issuer} scopes={scopesOf(client)} />}
      </SimpleGrid>
    </Section>
  );
}

/** For products that do not read the discovery document. */
function ProductSettings({ issuer, scopes }: { issuer: string; scopes: string }) {
  return (
    <>
      <CopyField label={t('Authorization endpoint')} value={`${issuer}/authorize`} />
      <CopyField label={t('Token endpoint')} value={`${issuer}/oauth2/token`} />
      <CopyField label={t('UserInfo endpoint')} value={`${issuer}/userinfo`} />
      <CopyField label={t('Logout endpoint')} value={`${issuer}/oauth2/end_session`} />
      <CopyField label={t('Scopes')} value={scopes} />
    </>
  );
}
