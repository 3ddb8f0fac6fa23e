import { NativeSelect } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { connectTexts } from '../../connect/texts.ts';
import { t, withTexts } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { LinkButton } from '../../ui/buttons.tsx';
import { Snippets } from '../../ui/code/snippets.tsx';
import { Section } from '../../ui/layout/page.tsx';
import type { ClientPartProps } from '../client-part.ts';
import { type ClientKind, clientKinds, kindOf } from '../kind.ts';
import { TrySignIn } from '../trial/try-sign-in.tsx';
import { ConnectionSettings } from './connection-settings.tsx';
import { RedirectUriAlert } from './redirect-uri-alert.tsx';
import { snippetsFor } from './snippets.ts';

// With the data of all products.
const ProductQuickstart = lazy(async () => ({
  default: (await withTexts(connectTexts, () => import('../../connect/product-parts.ts'))).ProductQuickstart,
}));

const hasSecret = ({ tokenEndpointAuthMethod }: ClientPartProps['client']) =>
  tokenEndpointAuthMethod.startsWith('CLIENT_SECRET');

/** Steps to a first sign-in. */
export function ClientQuickstart({ client, mayChange }: ClientPartProps) {
  const [kind, setKind] = useState(() => kindOf(client));
  const path = useProjectPath();
  const project = useProject();
  const [redirectUri] = client.redirectUris;
  const live = client.apiKeys.find(({ kind, revokedAt, value }) => kind === 'PUBLISHABLE' && !revokedAt && value);
  const publishableKey = live?.value ?? undefined;
  const snippets = snippetsFor(kind, { client, projectIssuer: project.issuer, publishableKey });
  const code = (
    <Section
      title={t('Code')}
      lead={t('Your values are filled in and highlighted. Secret keys are shown only at creation.')}
      actions={
        <>
          <NativeSelect
            aria-label={t('Application type')}
            value={kind}
            data={Object.entries(clientKinds).map(([value, { name }]) => ({ value, label: name }))}
            onChange={(event) => setKind(event.currentTarget.value as ClientKind)}
          />
          <LinkButton to={path(`applications/${client.id}/keys`)}>{t('Manage keys')}</LinkButton>
        </>
      }
    >
      <Snippets key={kind} snippets={snippets} />
    </Section>
  );
  return (
    <>
      {redirectUri === undefined && (
        <RedirectUriAlert>
          {mayChange && <Link to={path(`applications/${client.id}/settings`)}>{t('Add one')}</Link>}
        </RedirectUriAlert>
      )}
      {mayChange && client.builtIn !== 'CONSOLE' && (
        <Section
          title={t('Test sign-in')}
          lead={t('Opens a new tab, signs you in and shows the tokens.')}
          actions={<TrySignIn clientId={client.id} />}
        />
      )}
      <ConnectionSettings client={client} publishableKey={publishableKey} />
      {hasSecret(client) ? (
        <Suspense>
          <ProductQuickstart client={client}>{code}</ProductQuickstart>
        </Suspense>
      ) : (
        code
      )}
    </>
  );
}
