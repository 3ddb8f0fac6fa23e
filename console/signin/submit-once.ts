/**
 * Submits a form once: a second click while the application's answer is on its way would cancel that answer, and find the
 * request finished. The page works without this script.
 */
let isSubmitted = false;

const submitOnce = (event: SubmitEvent) => {
  if (isSubmitted) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  isSubmitted = true;
};
// Before the listeners of other scripts of the page.
document.addEventListener('submit', submitOnce, { capture: true });

// Back from the application, from the back/forward cache.
addEventListener('pageshow', () => {
  isSubmitted = false;
});
