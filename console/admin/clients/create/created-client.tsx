import { lazy, Suspense } from 'react';
import { Link, useNavigate } from 'react-router';
import type { CreateClientMutation } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { Snippets } from '../../ui/code/snippets.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Secrets } from '../../ui/secrets/secret.tsx';
import { needsProjectIssuer } from '../issuer-advice.ts';
import { ConnectionSettings } from '../quickstart/connection-settings.tsx';
import { RedirectUriAlert } from '../quickstart/redirect-uri-alert.tsx';
import { snippetsFor } from '../quickstart/snippets.ts';
import { TrySignIn } from '../trial/try-sign-in.tsx';
import type { Answers } from './answers.ts';
import { loadParts } from './parts.ts';

export type Created = CreateClientMutation['createClient'];

const ProductSettings = lazy(async () => ({ default: (await loadParts()).ProductSettings }));

/** The last step: the secrets of the new application, shown once, and what to do with them. */
export function CreatedClient({
  created,
  answers: { kind, product, address },
}: {
  created: Created;
  answers: Answers;
}) {
  const { client, publishableKey, secretKey, clientSecret } = created;
  const navigate = useNavigate();
  const project = useProject();
  const path = useProjectPath();
  const snippets = snippetsFor(kind, { client, projectIssuer: project.issuer, publishableKey });
  return (
    <>
      {client.redirectUris.length === 0 && !product?.isMachine && (
        <RedirectUriAlert>
          <Link to={path(`applications/${client.id}/settings`)} target="_blank">
            {t('Add one')}
          </Link>
        </RedirectUriAlert>
      )}
      <Section title={t('Its keys')} lead={t('For this application only. Replace them at any time.')}>
        <Secrets
          fileName={`${client.id}.keys.txt`}
          secrets={[
            ...(clientSecret === null
              ? []
              : [
                  {
                    label: t('Client secret'),
                    value: clientSecret,
                    hint: t('For the issuer {issuer}. Server only.', { issuer: project.issuer }),
                  },
                ]),
            // Codes of @latchkey/browser are exchanged at the base issuer.
            ...(needsProjectIssuer(client)
              ? []
              : [
                  {
                    label: t('Publishable key'),
                    value: publishableKey,
                    hint: t(
                      'For @latchkey/browser. Safe to use in the browser: limited to the redirect URIs’ origins.',
                    ),
                    isPublic: true,
                  },
                ]),
            ...(secretKey === null
              ? []
              : [
                  {
                    label: t('Secret key'),
                    value: secretKey,
                    hint: t('For @latchkey/node on your server. Keep it out of clients and repositories.'),
                  },
                ]),
          ]}
          onDone={() => void navigate(path(`applications/${client.id}`))}
        />
      </Section>
      {product && (
        <Suspense>
          <ProductSettings product={product} client={client} clientSecret={clientSecret} address={address} />
        </Suspense>
      )}
      {!product?.isMachine && (
        <Section
          title={t('Test sign-in')}
          lead={t('Opens a new tab, signs you in and shows the tokens.')}
          actions={<TrySignIn clientId={client.id} />}
        />
      )}
      <ConnectionSettings client={client} />
      {!product && (
        <Section title={t('Quickstart')} lead={t('Your values are filled in and highlighted.')}>
          <Snippets snippets={snippets} />
        </Section>
      )}
    </>
  );
}
