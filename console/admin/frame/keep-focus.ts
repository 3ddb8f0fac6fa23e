/**
 * Focuses the heading of the section, or else of the page, once the focused control has been removed: the row of a
 * deleted resource, or the bar of saved changes. Returns a function that stops it.
 */
export function keepFocus(): () => void {
  let control: Element | undefined;
  /** The last one with a focused control. */
  let section: Element | null = null;
  const focused = ({ target }: FocusEvent) => {
    if (!(target instanceof Element) || !target.closest('main')) return;
    control = target;
    section = target.closest('section') ?? section;
  };
  // A click beside the controls removes the focus on purpose.
  const pressed = ({ target }: PointerEvent) => {
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
  // Dialogs are outside of the page: the focus may be lost when the last one closes.
  const observer = new MutationObserver(keep);
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('focusin', focused);
  document.addEventListener('pointerdown', pressed);
  return () => {
    observer.disconnect();
    document.removeEventListener('focusin', focused);
    document.removeEventListener('pointerdown', pressed);
  };
}
