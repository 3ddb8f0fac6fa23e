/**
 * Focuses the heading of the section, or else of the page, once the focused control has been removed: the row of a
 * deleted resource, or the bar of saved changes. Also restores the focus of a control that was disabled during a
 * request. Returns a function that stops all this.
 */
export function keepFocus(): () => void {
  let control: Element | undefined;
  /** The last one with a focused control. */
  let section: Element | null = null;
  /** The last focused control, of the page or a dialog. */
  let last: Element | undefined;
  const focused = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    last = target;
    if (!target.closest('main')) return;
    control = target;
    section = target.closest('section') ?? section;
  };
  // A click beside the controls removes the focus on purpose.
  const pressed = ({ target }: PointerEvent) => {
    last = undefined;
    if (target instanceof Element && target.closest('main')) control = undefined;
  };
  const keep = () => {
    if (!control || control.isConnected || document.activeElement !== document.body) return;
    const heading =
      (section?.isConnected && section.querySelector('h2')) || document.querySelector<HTMLElement>('main h1');
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  };
  const restore = (mutations: readonly MutationRecord[]) => {
    if (!last || document.activeElement !== document.body) return;
    for (const { type, target } of mutations) {
      if (type !== 'attributes' || !(target instanceof HTMLElement)) continue;
      // The prompt for a sign-in, over the dialog of the request, has been closed.
      const isUncovered = !last.isConnected && target.closest('[role="dialog"]');
      if (target === last || isUncovered) target.focus({ preventScroll: true });
    }
  };
  // Dialogs are outside of the page: the focus may be lost when the last one closes.
  const observer = new MutationObserver((mutations) => {
    restore(mutations);
    keep();
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', focused);
  document.addEventListener('pointerdown', pressed);
  return () => {
    observer.disconnect();
    document.removeEventListener('focusin', focused);
    document.removeEventListener('pointerdown', pressed);
  };
}
