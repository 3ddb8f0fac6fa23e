import { Button } from '@mantine/core';
import { Link, useRouteError } from 'react-router';
import { MeProvider } from '../access.tsx';
import { useRead } from '../api.ts';
import { Session } from '../generated/operations.ts';
import { settings } from '../settings.ts';
import { Empty } from '../ui/empty.tsx';
import { Failed } from '../ui/failed.tsx';
import { Page } from '../ui/page.tsx';
import { Frame } from './frame.tsx';
import styles from './root.module.css';
import { SignInAgain } from './sign-in-again-dialog.tsx';

/** Finds out who is here before anything else is shown. */
export function Root() {
  const { data, failure, reload } = useRead(Session, {});
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
        failure && <Failed failure={failure} what="your account" retry={reload} />
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

/** No page has this address. */
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

/** What browsers say of a script or a style sheet that they could not fetch, each in its own words. */
const unfetched = /import|module|fetch|preload|load failed/i;

/** A page of the console itself broke: a bug, or a script of a version that has been replaced. */
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

/** In the place of the page alone: what stands around it still leads elsewhere. */
export function PageError() {
  return (
    <Page title="Not loaded">
      <div role="alert">
        <Broken />
      </div>
    </Page>
  );
}

/** In the place of everything. */
export function RootError() {
  return (
    <main className={styles.alone} role="alert">
      <Broken />
    </main>
  );
}
