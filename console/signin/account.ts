/**
 * The account page works without script. This one deletes device keys ("Forget this browser") and tells the browser which
 * passkeys the account still has, and its current name (Signal API, WebAuthn Level 3 section 5.1.10).
 */
import { signalAccepted, signalUser } from '@latchkey/browser/internal';
import './forget.ts';

const { rpId, userHandle, passkeys = '', userName = '', displayName = '' } = document.body.dataset;
if (rpId && userHandle) {
  signalAccepted(rpId, userHandle, passkeys.split(' ').filter(Boolean));
  signalUser(rpId, userHandle, userName, displayName);
}
