import { Button, Center } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useRouteError } from 'react-router';
import { MeProvider } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Session } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Frame } from './frame.tsx';
import { SignInAgain } from './sign-in-again-dialog.tsx';

const NoProject = lazy(async () => ({ default: (await import('./account/no-project.tsx')).NoProject }));

/** Loads the signed-in account before any page. */
export function Root() {
  const { data, failure, reload } = useQuery(Session, {});
  const me = data?.me;
  const hasProject = me ? me.grants.some(({ role }) => role !== 'ORGANIZATION_ADMIN') : failure?.code !== 'forbidden';
  if (me || !hasProject)
    return (
      <MeProvider value={me}>
        {hasProject ? (
          <Frame />
        ) : (
          <Suspense>
            <NoProject me={me} />
          </Suspense>
        )}
      </MeProvider>
    );
  return (
    <Center component="main" mih="100dvh" p="md">
      {failure && <LoadError failure={failure} subject={t('your account')} retry={reload} />}
      <SignInAgain />
    </Center>
  );
}

/** Messages of browsers for a script or style sheet that failed to load. */
const unfetched = /import|module|fetch|preload|load failed/i;

/** Error page: a bug, or a script of a replaced version. */
function Broken() {
  const error = useRouteError();
  const isOld = error instanceof Error && unfetched.test(error.message);
  return (
    <Empty
      icon="warning"
      title={isOld ? t('This page could not be loaded') : t('This page failed')}
      action={<Button onClick={() => location.reload()}>{t('Reload')}</Button>}
    >
      {isOld
        ? t('The connection is down, or the console was updated. Saved data is safe.')
        : t('Saved data is safe; unsaved input is lost. If it happens again, contact the operator.')}
    </Empty>
  );
}

/** Replaces the page only; the navigation stays usable. */
export function PageError() {
  return (
    <Page title={t('Not loaded')}>
      <div role="alert">
        <Broken />
      </div>
    </Page>
  );
}

/** Replaces the whole document. */
export function RootError() {
  return (
    <Center component="main" mih="100dvh" p="md" role="alert">
      <Broken />
    </Center>
  );
}
