import { Alert, Badge, Button } from '@mantine/core';
import {
  AuditEvents,
  RotateSamlKey,
  SamlIdentityProvider,
  type SamlIdentityProviderQuery,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { rich } from '../language/rich.tsx';
import { useProject } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { saveFile } from '../ui/files/save-file.ts';
import { Icon } from '../ui/icon.tsx';
import type { Column } from '../ui/lists/data-table.tsx';
import { TableSection } from '../ui/lists/table-section.tsx';
import { Time } from '../ui/time.tsx';
import { type CertificateState, certificateState, needsRotation } from './certificates.ts';

type Certificate = SamlIdentityProviderQuery['samlIdentityProvider']['certificates'][number] & {
  state: CertificateState;
};

interface SigningCertificatesProps {
  certificates: SamlIdentityProviderQuery['samlIdentityProvider']['certificates'] | undefined;
  mayChange: boolean;
}

const badges = {
  signs: [t('Signs now'), 'good'],
  next: [t('Next'), 'note'],
  former: [t('Former'), 'neutral'],
} as const;

/** The certificates that this project signs SAML messages with, and their rotation. */
export function SigningCertificates({ certificates, mayChange }: SigningCertificatesProps) {
  const { id: projectId, slug } = useProject();
  const [dialog, { confirm }] = useDialog();
  const now = Date.now();
  const rows = certificates?.map((one, index) => ({ ...one, state: certificateState(one, now, index === 0) }));
  const hasNext = rows?.some(({ state }) => state === 'next') ?? false;
  const rotate = () =>
    confirm({
      title: t('Rotate the signing certificate?'),
      effect: (
        <>
          <p>{t('A new certificate is in the metadata now, and signs in 30 days.')}</p>
          <p>
            {t(
              'Applications that do not read the metadata need it by then, or their sign-ins fail. The former one stays in the metadata for 30 more days.',
            )}
          </p>
        </>
      ),
      verb: t('Rotate certificate'),
      isHarmless: true,
      request: request(RotateSamlKey, { projectId }),
      invalidates: [SamlIdentityProvider, AuditEvents],
      done: t('New certificate published'),
    });
  const columns: readonly Column<Certificate>[] = [
    {
      header: t('Status'),
      isName: true,
      cell: ({ state }) => <Badge color={badges[state][1]}>{badges[state][0]}</Badge>,
    },
    { header: t('In use'), cell: (certificate) => <Use certificate={certificate} /> },
    { header: t('Expires'), cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      header: t('Fingerprint (SHA-256)'),
      width: '34%',
      cell: ({ fingerprint }) => <code style={{ overflowWrap: 'anywhere' }}>{fingerprint}</code>,
    },
    {
      header: '',
      align: 'end',
      isPlain: true,
      cell: ({ pem, state }) => (
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Icon name="download" size={16} />}
          aria-label={t('Download certificate: {state}', { state: badges[state][0] })}
          onClick={() => saveFile(`${slug}-saml.pem`, pem, 'application/x-pem-file')}
        >
          {t('Download')}
        </Button>
      ),
    },
  ];
  return (
    <>
      {certificates && needsRotation(certificates, now) && (
        <Alert color="note" title={t('The signing certificate expires soon')}>
          {rich('It expires <time></time>. Rotate it at least 30 days before.', {
            time: () => <Time at={certificates[0]?.expiresAt} />,
          })}
        </Alert>
      )}
      <TableSection
        title={t('Signing certificates')}
        lead={t('They sign SAML responses of this project. A successor is published 30 days before it signs.')}
        actions={
          mayChange && (
            <SecondaryButton disabled={!rows || hasNext} onClick={rotate}>
              {t('Rotate certificate')}
            </SecondaryButton>
          )
        }
        columns={columns}
        rows={rows}
        skeletonRows={1}
      >
        {dialog}
      </TableSection>
    </>
  );
}

function Use({ certificate: { state, signsFrom, publishedUntil } }: { certificate: Certificate }) {
  if (state === 'next') return rich('signs <time></time>', { time: () => <Time at={signsFrom} /> });
  if (publishedUntil === null) return t('until it is rotated');
  return rich('in the metadata until <time></time>', { time: () => <Time at={publishedUntil} /> });
}
