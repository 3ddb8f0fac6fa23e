import type { LatchkeySuccess } from '@latchkey/browser/elements';
import { createElement, Fragment, type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { useSession } from './hooks.ts';
import { useLatchkey } from './provider.ts';
import type { Session } from './session.ts';

export interface SignInProps {
  /** Your application's name in the texts. Default: the page's host. */
  appName?: string | undefined;
  /** `en`, `de`, `fr`, `es` or `ja`. Default: that of the page, then of the browser. */
  lang?: string | undefined;
  /** `none`: without the project's colors and logo. */
  branding?: 'none' | undefined;
  /** For custom properties and parts, as in the README of `@latchkey/browser`. */
  className?: string | undefined;
  /** Called when the session has begun and the form can be removed. */
  onSignedIn?: (() => void) | undefined;
  /** Called when the back end began no session. The form shows it, and offers another sign-in. */
  onError?: ((error: Error) => void) | undefined;
}

/** The form of the service: the web component `<latchkey-sign-in>`. Your back end begins the session by itself. */
export function SignIn({ appName, branding, className, lang, onError, onSignedIn }: SignInProps): ReactElement {
  const { apiKey, baseUrl, store } = useLatchkey();
  const element = useRef<HTMLElement>(null);
  const handlers = useRef({ onError, onSignedIn });
  useEffect(() => {
    handlers.current = { onError, onSignedIn };
  });

  useEffect(() => {
    const form = element.current;
    if (!form) return undefined;
    let release: Promise<() => Promise<void>> | undefined;
    const onSuccess = (event: Event) => {
      const { waitUntil, ...proof } = (event as CustomEvent<LatchkeySuccess>).detail;
      release = store.begin(proof);
      // On failure, the form offers another sign-in.
      waitUntil(release);
      release.catch((error: Error) => handlers.current.onError?.(error));
    };
    const onDone = () => {
      release
        ?.then((show) => show())
        .then(
          () => handlers.current.onSignedIn?.(),
          () => undefined,
        );
    };
    form.addEventListener('latchkey-success', onSuccess);
    form.addEventListener('latchkey-done', onDone);
    // Not on a server, and only for pages that show the form.
    import('@latchkey/browser/elements').catch((error: Error) => handlers.current.onError?.(error));
    return () => {
      form.removeEventListener('latchkey-success', onSuccess);
      form.removeEventListener('latchkey-done', onDone);
      // The form was removed before it ended, but the session has begun.
      release?.then((show) => show()).catch(() => undefined);
    };
  }, [store]);

  return createElement('latchkey-sign-in', {
    ref: element,
    'api-key': apiKey,
    'base-url': baseUrl,
    'app-name': appName,
    branding,
    lang,
    // React 18 does not translate the name for custom elements.
    class: className,
  });
}

export interface SignedInProps {
  children?: ReactNode | ((session: Session) => ReactNode);
  /** While the session is not known. */
  fallback?: ReactNode;
}

/** Shows its children to signed-in users. Protect data in the back end: this only controls rendering. */
export function SignedIn({ children, fallback }: SignedInProps): ReactElement {
  const { session, status } = useSession();
  if (status === 'loading') return createElement(Fragment, null, fallback);
  const shown = typeof children === 'function' ? session && children(session) : children;
  return createElement(Fragment, null, status === 'signed-in' ? shown : null);
}

/** Shows its children to users who are not signed in. */
export function SignedOut({ children }: { children?: ReactNode }): ReactElement {
  const { status } = useSession();
  return createElement(Fragment, null, status === 'signed-out' ? children : null);
}
