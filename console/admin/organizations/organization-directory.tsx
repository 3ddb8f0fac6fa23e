import { Alert, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from '../api.ts';
import { DirectoryState, lastRequest } from '../directories/directory-state.tsx';
import { ExpiryBanner } from '../directories/expiry-banner.tsx';
import { Tokens } from '../directories/scim-tokens.tsx';
import { SelfTest } from '../directories/self-test.tsx';
import { SetupSteps } from '../directories/setup-steps.tsx';
import { ScimTokens } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useOutline, useProjectPath } from '../projects/project.tsx';
import { settings } from '../settings.ts';
import { LinkButton, SecondaryButton } from '../ui/buttons.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import type { OrganizationPartProps } from './organization-part.ts';

const Inspector = lazy(async () => ({ default: (await import('../directories/inspector.tsx')).Inspector }));

/** The directory of an organization: setup, tokens, requests and self-test. */
export function OrganizationDirectory({ organization, mayChange, inProject }: OrganizationPartProps) {
  const { id: projectId, scimEnabled } = useOutline();
  const path = useProjectPath();
  const [issued, setIssued] = useState<string>();
  const [showsRequests, setShowsRequests] = useState(false);
  const owner = { organizationId: organization.id };
  const { data, failure, reload } = useQuery(ScimTokens, owner, { everySeconds: 5 });
  const tokens = data?.scimTokens;
  const isOn = scimEnabled && organization.state === 'ACTIVE';
  if (failure && !data) return <LoadError failure={failure} subject={t('the directory')} retry={reload} />;
  return (
    <>
      {!scimEnabled && (
        <Alert color="note" title={t('Directory sync is off in this project')}>
          {t('Requests return 404 until it is on.')}{' '}
          {inProject && (
            <LinkButton to={path('directory')} size="xs">
              {t('Directory sync')}
            </LinkButton>
          )}
        </Alert>
      )}
      {isOn && <ExpiryBanner tokens={tokens} />}
      <Text c="dimmed">
        {t(
          'It manages accounts with addresses in verified domains of the organization. People with other addresses have their own accounts and become guests.',
        )}
      </Text>
      <DirectoryState tokens={tokens} isOn={isOn} />
      {tokens && (
        <SetupSteps
          owner={owner}
          address={`${settings.issuer}/v1/scim/${organization.id}`}
          token={issued}
          mayChange={mayChange && isOn}
          isConnected={lastRequest(tokens) !== undefined && issued === undefined}
          onIssued={setIssued}
        />
      )}
      <Tokens owner={owner} tokens={tokens} mayChange={mayChange} />
      {mayChange && <SelfTest owner={owner} isOn={isOn} />}
      {showsRequests ? (
        <Suspense>
          <Inspector owner={owner} projectId={projectId} mayChange={mayChange && inProject} />
        </Suspense>
      ) : (
        <SecondaryButton onClick={() => setShowsRequests(true)}>{t('Show requests')}</SecondaryButton>
      )}
    </>
  );
}
