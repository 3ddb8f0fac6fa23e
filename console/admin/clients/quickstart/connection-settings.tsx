import { SimpleGrid } from '@mantine/core';
import { t } from '../../language/language.ts';
import { useProject } from '../../projects/project.tsx';
import { settings } from '../../settings.ts';
import { CopyField } from '../../ui/code/copy.tsx';
import { Section } from '../../ui/layout/page.tsx';
import type { Client } from '../client-part.ts';
import { issuerAdvice, needsProjectIssuer } from '../issuer-advice.ts';

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
      </SimpleGrid>
    </Section>
  );
}
