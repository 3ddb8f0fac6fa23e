/**
 * Submits one form of a page once: a second click would cancel the first request, whose response may come from a slow
 * application or show recovery codes. The page works without this script.
 */
let isSubmitted = false;

const submitOnce = (event: SubmitEvent) => {
  // A download leaves the page open.
  if ((event.target as HTMLFormElement).dataset['stays'] !== undefined) return;
  if (isSubmitted) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  isSubmitted = true;
};
// Before the listeners of other scripts of the page.
document.addEventListener('submit', submitOnce, { capture: true });

// After a return to the page, from the back/forward cache.
addEventListener('pageshow', () => {
  isSubmitted = false;
});
