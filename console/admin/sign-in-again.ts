import { useLayoutEffect, useSyncExternalStore } from 'react';
import { settings } from './settings.ts';

/** `expired`: the session has ended. `fresh`: the change requires a recent sign-in. */
export type Reason = 'expired' | 'fresh';

interface Prompt {
  reason: Reason;
  answer(signedIn: boolean): void;
}

const channel = 'lk-signed-in';
let prompt: Prompt | undefined;
let waiting: Promise<boolean> | undefined;
const listeners = new Set<() => void>();

function set(next: Prompt | undefined): void {
  prompt = next;
  for (const listener of listeners) listener();
}

/** Opens the sign-in prompt; concurrent callers share its result. */
export function signInAgain(reason: Reason): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    const tabs = new BroadcastChannel(channel);
    const answer = (signedIn: boolean) => {
      tabs.close();
      waiting = undefined;
      set(undefined);
      resolve(signedIn);
    };
    // Also resolves after a sign-in in another tab. Another account gets a new page, without this one's data.
    tabs.onmessage = ({ data: account }: MessageEvent<string>) => {
      if (account === settings.account) answer(true);
      else location.reload();
    };
    set({ reason, answer });
  });
  return waiting;
}

/** The open prompt, for the dialog. */
export function usePrompt(): Prompt | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => prompt,
  );
}

/** Escape closes the prompt, and not the dialogs under it: its listener is registered before theirs. */
export function usePromptEscape(): void {
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !prompt) return;
      event.stopImmediatePropagation();
      prompt.answer(false);
    };
    window.addEventListener('keydown', pressed, { capture: true });
    return () => window.removeEventListener('keydown', pressed, { capture: true });
  }, []);
}

/** Opens sign-in in a popup, so that the page keeps its unsaved input. */
export function openSignIn(reason: Reason): void {
  window.open(
    reason === 'fresh' ? '/admin/sign-in?fresh' : '/admin/sign-in',
    'latchkey-sign-in',
    'popup,width=520,height=760',
  );
}

/** Called by the popup after the sign-in redirect. */
export function announceSignIn(): void {
  new BroadcastChannel(channel).postMessage(settings.account);
  window.close();
}
