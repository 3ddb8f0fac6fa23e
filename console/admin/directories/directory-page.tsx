import { Alert, Badge, Stack, Switch } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useAccess } from '../access.tsx';
import { part, usePrefetch, useQuery } from '../api.ts';
import { attributesTexts } from '../attributes/texts.ts';
import {
  CustomAttributes as CustomAttributesOf,
  DirectoryPage,
  ScimTokens,
  UpdateProject,
} from '../generated/operations.ts';
import { t, withTexts } from '../language/language.ts';
import { type Project, useProject, useProjectPath } from '../projects/project.tsx';
import { projectChange, projectQueries } from '../projects/use-project-form.ts';
import { settings } from '../settings.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { FormError, LoadError } from '../ui/feedback/errors.tsx';
import { useAction } from '../ui/feedback/use-action.ts';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { Radios } from '../ui/forms/radios.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { DirectoryState, lastRequest } from './directory-state.tsx';
import { ExpiryBanner } from './expiry-banner.tsx';
import { Tokens } from './scim-tokens.tsx';
import { SelfTest } from './self-test.tsx';
import { SetupSteps } from './setup-steps.tsx';

const CustomAttributes = lazy(async () => ({
  default: (await withTexts(attributesTexts, () => import('../attributes/custom-attributes.tsx'))).CustomAttributes,
}));
const Inspector = lazy(async () => ({ default: (await import('./inspector.tsx')).Inspector }));

/** SCIM provisioning: setup, tokens, request log and self-test. */
export function Component() {
  const project = useProject();
  const { mayChange } = useAccess(project.id);
  const [issued, setIssued] = useState<string>();
  usePrefetch(DirectoryPage, { projectId: project.id }, [
    part(ScimTokens, { projectId: project.id }),
    part(CustomAttributesOf, { projectId: project.id }),
  ]);
  const { data, failure, reload } = useQuery(ScimTokens, { projectId: project.id }, { everySeconds: 5 });
  const tokens = data?.scimTokens;
  const address = `${settings.issuer}/v1/scim/${project.id}`;
  if (project.builtIn === 'CONSOLE') {
    return (
      <Page title={t('Directory sync')} narrow>
        <Alert title={t('Not available')}>
          {t('Admins of this instance sign in through this project; directories cannot write to it.')}
        </Alert>
      </Page>
    );
  }
  return (
    <Page
      title={t('Directory sync')}
      lead={t('A directory manages the users of this project over SCIM 2.0.')}
      badges={project.scimEnabled ? <Badge color="good">{t('On')}</Badge> : <Badge>{t('Off')}</Badge>}
    >
      {!mayChange && <ViewerNotice project={project} />}
      {failure && !data && <LoadError failure={failure} subject={t('the directory')} retry={reload} />}
      {project.scimEnabled && <ExpiryBanner tokens={tokens} />}
      <DirectoryState tokens={tokens} isOn={project.scimEnabled} />
      {tokens && (
        <SetupSteps
          owner={{ projectId: project.id }}
          address={address}
          token={issued}
          mayChange={mayChange && project.scimEnabled}
          isConnected={lastRequest(tokens) !== undefined && issued === undefined}
          onIssued={setIssued}
        />
      )}
      {(data || !failure) && <Tokens owner={{ projectId: project.id }} tokens={tokens} mayChange={mayChange} />}
      {mayChange && <SelfTest owner={{ projectId: project.id }} isOn={project.scimEnabled} />}
      <Suspense>
        <CustomAttributes projectId={project.id} mayChange={mayChange} />
        <Inspector owner={{ projectId: project.id }} projectId={project.id} mayChange={mayChange} />
      </Suspense>
      <Rules project={project} mayChange={mayChange} />
    </Page>
  );
}

function Rules({ project, mayChange }: { project: Project; mayChange: boolean }) {
  const path = useProjectPath();
  const { run, busy, failure } = useAction(UpdateProject, projectQueries, t('Saved'));
  const [dialog, { confirm }] = useDialog();
  const turnOff = () =>
    confirm({
      title: t('Turn off directory sync?'),
      effect: (
        <p>
          {t(
            'SCIM requests return 404 immediately: users removed in the directory keep access until sync is on again. Users and tokens stay.',
          )}
        </p>
      ),
      verb: t('Turn off'),
      request: request(UpdateProject, projectChange(project, { scimEnabled: false })),
      invalidates: projectQueries,
      done: t('Saved'),
    });
  return (
    <Section title={t('Rules')}>
      <Stack>
        <Switch
          label={t('Allow directory requests')}
          description={t('Off: SCIM requests return 404. Users and tokens stay.')}
          checked={project.scimEnabled}
          disabled={!mayChange || busy}
          onChange={({ currentTarget }) => {
            if (currentTarget.checked) void run(projectChange(project, { scimEnabled: true }));
            else turnOff();
          }}
        />
        <Switch
          label={t('Lock phone numbers of directory users')}
          description={t('Directory users cannot change their phone number. Off: changes last until the next sync.')}
          checked={project.scimAuthoritative}
          disabled={!mayChange || busy}
          onChange={({ currentTarget }) =>
            void run(projectChange(project, { scimAuthoritative: currentTarget.checked }))
          }
        />
        <Radios
          label={t('Logout on deactivation')}
          isLabelled
          options={{
            null: {
              name: t('At project issuers'),
              hint: t('Also at custom domains. Applications of the base issuer get no logout token.'),
            },
            true: { name: t('At all issuers'), hint: t('Also at the base issuer.') },
            false: { name: t('Off'), hint: t('Applications may keep deactivated and deleted users signed in.') },
          }}
          value={`${project.notifyOnDeactivation ?? null}`}
          disabled={!mayChange || busy}
          onChange={(choice) =>
            void run(projectChange(project, { notifyOnDeactivation: choice === 'null' ? null : choice === 'true' }))
          }
        />
      </Stack>
      <FormError failure={failure} />
      <div>
        <LinkButton to={`${path('users')}?provenance=SCIM`} size="xs">
          {t('Users from the directory')}
        </LinkButton>
      </div>
      {dialog}
    </Section>
  );
}
