import { Badge, Box, Burger, Drawer, Group } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { lazy, Suspense, useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Link, Outlet, useLocation, useNavigation } from 'react-router';
import { useQuery } from '../api.ts';
import { ProjectById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { settings } from '../settings.ts';
import { usePromptEscape } from '../sign-in-again.ts';
import { AccountMenu } from './account/account-menu.tsx';
import { PasskeyHint } from './account/passkey-hint.tsx';
import styles from './frame.module.css';
import { HelpMenu } from './help-menu.tsx';
import { InstanceMenu } from './instance-menu.tsx';
import { Navigation, useCurrentProjectId } from './navigation.tsx';
import { PaletteButton } from './search/palette-button.tsx';
import { Switcher } from './search/switcher.tsx';
import { ServerStatus } from './server-status.tsx';
import { SignInAgain } from './sign-in-again-dialog.tsx';

const laterParts = () => import('./later-parts.ts');
const Palette = lazy(async () => ({ default: (await laterParts()).Palette }));

function useKeptFocus(): void {
  useEffect(() => {
    const end = laterParts().then(({ keepFocus }) => keepFocus());
    return () => void end.then((stop) => stop());
  }, []);
}

/** Layout of every page: header, navigation, dialogs. */
export function Frame() {
  const projectId = useCurrentProjectId();
  const { state } = useNavigation();
  useKeptFocus();
  usePromptEscape();
  const [drawer, setDrawer] = useState(false);
  const closeDrawer = () => setDrawer(false);
  const palette = usePalette();
  const { typed, setTyped, close } = palette;
  // Rendered after the page.
  const hasDialogs = useDeferredValue(true, false);
  useNextPage(closeDrawer);
  return (
    <div className={styles.frame}>
      <a href="#main" className={styles.skip}>
        {t('Skip to the page')}
      </a>
      <header className={styles.bar}>
        <Burger
          hiddenFrom="md"
          ml={-6}
          size="sm"
          opened={drawer}
          onClick={() => setDrawer(!drawer)}
          aria-label={t('Navigation')}
        />
        <InstanceMenu />
        <Switcher projectId={projectId} />
        <Environment projectId={projectId} />
        <Group gap={4} ml="auto" wrap="nowrap">
          <PaletteButton onOpen={palette.open} />
          <ServerStatus />
          <HelpMenu projectId={projectId} />
          <AccountMenu />
        </Group>
        {state === 'loading' && (
          <div className={styles.progress} role="progressbar" aria-label={t('Loading the page')} />
        )}
      </header>
      <Box component="aside" visibleFrom="md" className={styles.side ?? ''}>
        <Navigation projectId={projectId} />
      </Box>
      <main id="main" className={styles.main} tabIndex={-1}>
        <PasskeyHint />
        <Outlet />
      </main>
      <Suspense fallback={palette.opened && <EarlyInput text={typed} onText={setTyped} onClose={close} />}>
        <Palette opened={palette.opened} onClose={close} projectId={projectId} typed={typed} />
      </Suspense>
      {hasDialogs && (
        <>
          <Drawer opened={drawer} onClose={closeDrawer} title="Latchkey" size="18rem" styles={{ body: { padding: 0 } }}>
            <Navigation projectId={projectId} hasInstance onGo={closeDrawer} />
          </Drawer>
          <SignInAgain />
          <Notifications position="top-center" className={styles.toasts ?? ''} aria-live="polite" />
        </>
      )}
    </div>
  );
}

/** The palette, which Ctrl K opens. */
function usePalette() {
  const [opened, setOpened] = useState(false);
  /** Typed before the palette was fetched. */
  const [typed, setTyped] = useState('');
  // Before the first paint, so that no key press is lost.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.shiftKey) return;
      event.preventDefault();
      setOpened(true);
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
  const close = () => {
    setTyped('');
    setOpened(false);
  };
  return { opened, open: () => setOpened(true), close, typed, setTyped };
}

/** Scrolls to the top of the next page. */
function useNextPage(onNext: () => void): void {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    // The first page is at its top; scrolling would force a layout while it renders.
    if (shown.current === pathname) return;
    shown.current = pathname;
    onNext();
    window.scrollTo({ top: 0 });
  }, [pathname]);
}

/** Takes the place of the palette's field until the palette is fetched. */
function EarlyInput({ text, onText, onClose }: { text: string; onText(text: string): void; onClose(): void }) {
  return (
    <input
      className={styles.early}
      aria-label={t('Search or go to')}
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
      ref={focus}
    />
  );
}

const focus = (node: HTMLInputElement | null): void => node?.focus();

/** Badges that mark a non-production environment. */
function Environment({ projectId }: { projectId: string | undefined }) {
  const { data } = useQuery(ProjectById, { id: projectId ?? '' }, { pause: projectId === undefined });
  return (
    <Group gap={6} wrap="nowrap" visibleFrom="sm">
      {data?.project?.testMode && data.project.id === projectId && (
        <Badge
          component={Link}
          to={`/projects/${projectId}/factors`}
          title={t('Sign-in responses contain one-time codes')}
          color="note"
        >
          {t('Test mode')}
        </Badge>
      )}
      {settings.hasDevMailbox && (
        <Badge component={Link} to="/mailbox" title={t('No mail server: messages go to the dev mailbox')} color="note">
          {t('Dev mailbox')}
        </Badge>
      )}
    </Group>
  );
}
