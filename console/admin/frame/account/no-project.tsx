import { Box, Button, Center, Group } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { Navigate, Outlet, useLocation } from 'react-router';
import type { Me } from '../../access.tsx';
import { t } from '../../language/language.ts';
import { signOutAddress } from '../../settings.ts';
import { usePromptEscape } from '../../sign-in-again.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import styles from '../frame.module.css';
import { Missing } from '../missing.tsx';
import { ServerStatus } from '../server-status.tsx';
import { SignInAgain } from '../sign-in-again-dialog.tsx';
import { AccountMenu } from './account-menu.tsx';
import { PasskeyHint } from './passkey-hint.tsx';

/** In place of the frame, for accounts without a role in a project. @param me undefined without any role */
export function NoProject({ me }: { me: Me | undefined }) {
  return me ? <OrganizationFrame /> : <NoRole />;
}

/** The frame of admins of organizations (decisions/0412): without navigation and search, which are about projects. */
function OrganizationFrame() {
  usePromptEscape();
  return (
    <div className={styles.frame} style={{ gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <header className={styles.bar}>
        <Box fw={600}>Latchkey</Box>
        <Group gap={4} ml="auto" wrap="nowrap">
          <ServerStatus />
          <AccountMenu />
        </Group>
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <PasskeyHint />
        <Pages />
      </main>
      <SignInAgain />
      <Notifications position="top-center" className={styles.toasts ?? ''} aria-live="polite" />
    </div>
  );
}

/** The pages that send no query about a project or the instance. */
const pages = /^\/(?:organizations|connections|explorer)(?:\/|$)/;

function Pages() {
  const { pathname } = useLocation();
  if (pathname === '/') return <Navigate to="/organizations" replace />;
  return pages.test(pathname) ? <Outlet /> : <Missing />;
}

function NoRole() {
  return (
    <Center component="main" mih="100dvh" p="md">
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
      <SignInAgain />
    </Center>
  );
}
