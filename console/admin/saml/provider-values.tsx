import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SamlIdentityProviderQuery } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { LinesSkeleton } from '../ui/feedback/skeleton.tsx';
import { Section } from '../ui/layout/page.tsx';

interface ProviderValuesProps {
  provider: SamlIdentityProviderQuery['samlIdentityProvider'] | undefined;
  title: string;
  lead: string;
  actions?: ReactNode;
  children?: ReactNode;
}

/** The values of this project that SAML applications ask for. */
export function ProviderValues({ provider, title, lead, actions, children }: ProviderValuesProps) {
  return (
    <Section {...{ title, lead, actions }}>
      {provider ? (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <CopyField
            label={t('Metadata address')}
            value={provider.entityId}
            hint={t('Applications that read it need no other value.')}
          />
          <CopyField label={t('Entity ID (issuer)')} value={provider.entityId} />
          <CopyField
            label={t('Single sign-on URL (SSO)')}
            value={provider.ssoUrl}
            hint={t('HTTP-Redirect and HTTP-POST')}
          />
          <CopyField
            label={t('Single logout URL (SLO)')}
            value={provider.sloUrl}
            hint={t('HTTP-Redirect and HTTP-POST')}
          />
          {children}
        </SimpleGrid>
      ) : (
        <LinesSkeleton />
      )}
    </Section>
  );
}
