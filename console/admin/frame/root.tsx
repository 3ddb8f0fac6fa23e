import { Button } from '@mantine/core';
import { Link, useRouteError } from 'react-router';
import { MeProvider } from '../access.tsx';
import { useQuery } from '../api.ts';
import { Session } from '../generated/operations.ts';
import { settings } from '../settings.ts';
import { Empty } from '../ui/feedback/empty.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Page } from '../ui/layout/page.tsx';
import { Frame } from './frame.tsx';
import styles from './root.module.css';
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
    <main className={styles.alone}>
      {failure?.code === 'forbidden' ? (
        <NoRole />
      ) : (
        failure && <LoadError failure={failure} subject="your account" retry={reload} />
      )}
      <SignInAgain />
    </main>
  );
}

function NoRole() {
  const query = new URLSearchParams({
    client_id: settings.clientId,
    post_logout_redirect_uri: `${settings.issuer}/admin`,
  });
  return (
    <Empty
      icon="lock"
      title="You have no role here yet"
      action={
        <Button component="a" href={`/oauth2/end_session?${query}`} variant="default">
          Sign in as somebody else
        </Button>
      }
    >
      You are signed in, but nobody has given you a part in this instance. Ask an owner for a role, and load this page
      again.
    </Empty>
  );
}

/** Not-found page. */
export function Missing() {
  return (
    <Page title="Not found">
      <Empty
        icon="search"
        title="There is no such page"
        action={
          <Button component={Link} to="/">
            Go to the start
          </Button>
        }
      >
        The address is wrong, or what stood here is gone.
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
      title={isOld ? 'This page could not be loaded' : 'Something in this page broke'}
      action={<Button onClick={() => location.reload()}>Load again</Button>}
    >
      {isOld
        ? 'The connection is down, or the console was updated meanwhile. Nothing was lost.'
        : 'What was saved is safe; what you were typing here is not. If it happens again, tell whoever runs this server.'}
    </Empty>
  );
}

/** Replaces the page only; the navigation stays usable. */
export function PageError() {
  return (
    <Page title="Not loaded">
      <div role="alert">
        <Broken />
      </div>
    </Page>
  );
}

/** Replaces the whole document. */
export function RootError() {
  return (
    <main className={styles.alone} role="alert">
      <Broken />
    </main>
  );
}
