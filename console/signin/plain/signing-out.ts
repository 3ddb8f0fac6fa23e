/** Leads on as soon as the applications in all frames have answered (`answered.ts`). */
const waiting = new Set(Array.from(document.querySelectorAll('iframe'), (frame) => frame.contentWindow));
const next = document.querySelector<HTMLAnchorElement>('#next');

addEventListener('message', ({ origin, source }) => {
  if (origin !== location.origin || !waiting.delete(source as Window)) return;
  if (waiting.size === 0 && next) location.replace(next.href);
});

// A frame may have answered before this script ran.
for (const frame of waiting) frame?.postMessage('answered?', location.origin);
