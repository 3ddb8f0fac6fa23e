import { Alert } from '@mantine/core';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { Time } from '../ui/time.tsx';
import type { SamlClient } from './settings-values.ts';

const faults = {
  UNREACHABLE: t('No answer within 5 seconds, over 512 KB, a redirect, or a private address.'),
  INVALID: t('It is no metadata of one application, or its certificates are refused.'),
  CERTIFICATES: t('It has no valid certificate.'),
  ENTITY_ID: t('It names another application.'),
} as const;

const warningMilliseconds = 30 * 24 * 3600 * 1000;

/** Metadata that cannot be read, and certificates that expire within 30 days. */
export function ApplicationWarnings({ saml }: { saml: SamlClient }) {
  const { samlCertificateExpiresAt: expiry, samlMetadataFault: fault } = saml;
  const isExpiring = expiry != null && Date.parse(expiry) < Date.now() + warningMilliseconds;
  return (
    <>
      {fault && (
        <Alert color="note" title={t('The metadata of the application cannot be applied')}>
          {faults[fault]} {t('The former certificates stay.')}
        </Alert>
      )}
      {isExpiring && (
        <Alert color="note" title={t('The last request certificate expires soon')}>
          {rich('It expires <time></time>. Enter the next one before the application changes to it.', {
            time: () => <Time at={expiry} />,
          })}
        </Alert>
      )}
    </>
  );
}
