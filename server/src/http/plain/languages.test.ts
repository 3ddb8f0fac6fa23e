/** Pages in German have no English sentence: no text of the English catalog that German has otherwise. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { peopleOf } from '../../../test/account-visit.ts';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../../test/browser.ts';
import { SigninWorld } from '../../../test/signin-world.ts';

const world = SigninWorld.ofTests({ mfaPolicy: 'optional' });
const german = { 'Accept-Language': 'de', Accept: 'text/html' };

const catalog = (language: string) =>
  JSON.parse(
    readFileSync(new URL(`../../../../console/signin/messages/${language}.json`, import.meta.url), 'utf8'),
  ) as Record<string, string>;

/** The literal parts of English texts that German has otherwise, long enough to be no other text's part. */
const english = new Set<string>();

beforeAll(() => {
  const [en, de] = [catalog('en'), catalog('de')];
  const ofGerman = Object.values(de).join('\n');
  for (const text of Object.values(en))
    for (const part of text.split(/\{\w+\}/))
      if (part.trim().length >= 8 && !ofGerman.includes(part.trim())) english.add(part.trim());
});

/** English texts on a page, in its text and its labels. */
function englishOn(html: string): string[] {
  const texts = html
    .replace(/<(script|style|head)\b[^]*?<\/\1>/g, (head) => /<title>[^<]*/.exec(head)?.[0] ?? '')
    .replace(/<!--[^]*?-->/g, '')
    .replace(/&#39;/g, '’');
  return [...english].filter((part) => texts.includes(part));
}

describe('pages for a German reader', () => {
  const places: [string, string][] = [
    ['the start page', '/'],
    ['an unknown address', '/nowhere'],
    ['an unknown application', '/authorize?client_id=x'],
    ['an unknown flow', '/signin?flow=x'],
    ['a flow that has ended', '/authorize/resume?flow=x'],
    ['the account page without a session', '/account'],
    ['the logout', '/oauth2/end_session'],
    ['an issuer that does not exist', '/p/nowhere/authorize'],
    ['a setup link that has ended', '/setup?token=x'],
    ['the dev mailbox without its link', '/setup/mailbox'],
  ];

  it.each(places)('%s has no English sentence', async (_name, path) => {
    const html = await (await new CookieBrowser().get(`${world.app.url}${path}`, german)).text();
    expect(html).toContain('<html lang="de"');
    expect(englishOn(html)).toEqual([]);
  });

  it('the sign-in page has none, nor the pages of devices', async () => {
    const browser = new CookieBrowser();
    const query = new URLSearchParams(authorizationParameters(world.client.id, pkce().challenge));
    const page = locationOf(await browser.get(`${world.app.url}/authorize?${query}`));
    const device = `${world.app.url}/p/${world.project.slug}/device`;
    for (const address of [page.href, device, `${device}?user_code=WDJB-MJHT`, `${device}/approval?flow=x`])
      expect([address, ...englishOn(await (await browser.get(address, german)).text())]).toEqual([address]);
  });

  it('the account page has none, with passkeys, factors, devices and sessions', async () => {
    const { visit } = await peopleOf(world).registeredUser();
    const html = await (await visit.browser.get(`${world.app.url}/account`, german)).text();
    expect(html).toContain('<html lang="de"');
    expect(englishOn(html)).toEqual([]);
  });
});
