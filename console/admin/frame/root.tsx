import { Button, Center } from '@mantine/core';
import { useRouteError } from 'react-router';
import { MeProvider } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Session } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { signOutAddress } from '../settings.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Frame } from './frame.tsx';
import { SignInAgain } from './sign-in-again-dialog.tsx';

/** Loads the signed-in account before any page. */
export function Root() {
  const { data, failure, reload } = useQuery(Session, {});
  if (data) {
    return (
      <MeProvider value={data.me}>
        <Frame />
      </MeProvider>
    );
  }
  return (
    <Center component="main" mih="100dvh" p="md">
      {failure?.code === 'forbidden' ? (
        <NoRole />
      ) : (
        failure && <LoadError failure={failure} subject={t('your account')} retry={reload} />
      )}
      <SignInAgain />
    </Center>
  );
}

function NoRole() {
  return (
    <Empty
      icon="lock"
      title={t('No role yet')}
      action={
        <Button component="a" href={signOutAddress} variant="default">
          {t('Use another account')}
        </Button>
      }
    >
      {t('You are signed in, but have no role in this instance. Ask an owner for one, then reload.')}
    </Empty>
  );
}

/** Not-found page. */
export function Missing() {
  return (
    <Page title={t('Not found')}>
      <Empty
        icon="search"
        title={t('Page not found')}
        action={
          <LinkButton to="/" variant="filled">
            {t('Go to home')}
          </LinkButton>
        }
      >
        {t('The address is wrong, or the page was deleted.')}
      </Empty>
    </Page>
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
