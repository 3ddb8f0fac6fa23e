import { useSyncExternalStore } from 'react';

/** `expired`: the session has ended. `fresh`: it lives, but this change asks for a sign-in of the last minutes. */
export type Why = 'expired' | 'fresh';

interface Asked {
  why: Why;
  answer(signedIn: boolean): void;
}

const channel = 'lk-signed-in';
let asked: Asked | undefined;
let waiting: Promise<boolean> | undefined;
const listeners = new Set<() => void>();

function set(next: Asked | undefined): void {
  asked = next;
  for (const listener of listeners) listener();
}

/** Asks the person to sign in again, without leaving the page; all who ask meanwhile wait for the same answer. */
export function signInAgain(why: Why): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    const news = new BroadcastChannel(channel);
    const answer = (signedIn: boolean) => {
      news.close();
      waiting = undefined;
      set(undefined);
      resolve(signedIn);
    };
    // Also where they signed in through another tab.
    news.onmessage = () => answer(true);
    set({ why, answer });
  });
  return waiting;
}

/** What is being asked just now, for the dialog. */
export function useAsked(): Asked | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
}

/** The window where the sign-in happens: small, so that the page with the unsaved form stays in sight. */
export function openSignIn(why: Why): void {
  window.open(
    why === 'fresh' ? '/admin/sign-in?fresh' : '/admin/sign-in',
    'latchkey-sign-in',
    'popup,width=520,height=760',
  );
}

/** Run by that window once the sign-in has led back to us. */
export function tellSignedIn(): void {
  new BroadcastChannel(channel).postMessage(true);
  window.close();
}
