/**
 * Entry point of the hosted sign-in page (GET /signin, server-rendered). Owns step order and display; the service
 * decides, the SDK calls it. Service contract: 3.3.
 */
import { hostedSignin, LatchkeyError } from '@latchkey/browser/internal';
import { CodePrompt } from './code-prompt.ts';
import { Flow } from './flow/flow.ts';
import { element, Page } from './page.ts';
import { fetchTexts } from './texts.ts';

element('unloaded').remove();
const page = new Page();
const { data } = page;

const application = {
  issuer: data['issuer']!,
  projectId: data['projectId']!,
  clientId: data['clientId']!,
};
const texts = fetchTexts(data['messages']!).then((fetched) => page.takeTexts(fetched));

const offline = element('offline');
const showConnection = () => {
  offline.hidden = navigator.onLine;
};
addEventListener('online', showConnection);
addEventListener('offline', showConnection);
showConnection();

// A page from the back/forward cache belongs to an ended flow: reload it.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});

async function begin(): Promise<void> {
  try {
    // At another address of the server, requests would fail.
    if (location.origin !== application.issuer) throw new LatchkeyError('ORIGIN_NOT_ALLOWED', 'fatal', '');
    const hosted = await hostedSignin(application, data['flow']!);
    const trustedUser = await hosted.trustedUser();
    // The address step of a pending sign-in, to which the user went back, is not left again.
    const isPending = data['pending'] === 'true' && (!history.state || history.state.begun);
    const resumed = isPending ? await hosted.resume().catch(() => undefined) : undefined;
    if (!resumed) page.reveal();
    await texts;
    const flow = new Flow(page, hosted, new CodePrompt(page));
    element<HTMLButtonElement>('address-submit').disabled = false;
    flow.start(trustedUser, resumed);
  } catch (error) {
    await texts;
    if (!(error instanceof LatchkeyError)) throw error;
    element('address-submit').hidden = true;
    element('host').hidden = error.code !== 'ORIGIN_NOT_ALLOWED';
    page.problem(page.sentence(error));
  }
}

// Console preview: the page without a user or a service.
if (data['preview']) {
  await texts;
  (await import('./preview.ts')).showPreview(page, data['preview']);
} else await begin();
