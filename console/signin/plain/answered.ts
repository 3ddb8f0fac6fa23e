/** Tells `signing-out.ts` that the application in this frame has answered, now and when asked. */
const tell = () => parent.postMessage('answered', location.origin);

addEventListener('message', tell);
tell();
