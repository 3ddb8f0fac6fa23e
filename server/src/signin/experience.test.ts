import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationParameters, CookieBrowser, locationOf, pkce } from '../../test/browser.ts';
import { bootstrapToken, buildTestApp, type TestApp } from '../../test/build-app.ts';
import { redirectUri } from '../../test/factories.ts';
import { pngOf } from '../../test/pictures.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { accentTheme } from '../domain/experience/accent.ts';
import type { ExperienceInput } from '../domain/experience/content.ts';
import { system } from '../domain/kernel/actor.ts';
import type { Project } from '../domain/projects/project.entity.ts';

let app: TestApp;
let project: Project;
let client: Client;
let browser: CookieBrowser;

beforeAll(async () => {
  app = await buildTestApp();
  await app.services.seed.create({ demo: false });
});
afterAll(() => app.close());
beforeEach(async () => {
  project = await app.make.project({ name: 'Project' });
  client = (await app.make.client(project)).client;
  browser = new CookieBrowser();
});

async function publish(input: ExperienceInput): Promise<void> {
  await app.services.experiences.saveDraft({ projectId: project.id }, input, system);
  await app.services.experiences.publish({ projectId: project.id }, system);
}

async function hostedPage(over: Record<string, string> = {}) {
  const query = new URLSearchParams(authorizationParameters(client.id, pkce().challenge, over));
  const to = locationOf(await browser.get(`${app.url}/authorize?${query}`));
  const response = await browser.get(to.href);
  return { html: await response.text(), headers: response.headers };
}

describe('the hosted page of a project', () => {
  it('has the default branding until something is published', async () => {
    const { html } = await hostedPage();
    expect(html).toContain('<span class="monogram" aria-hidden="true">App</span>');
    expect(html).toContain('<span id="project">Project</span>');
    expect(html).not.toContain('/experience/');
    expect(html).not.toMatch(/%\{/);
  });

  it('has name, logos, color, texts and links without script, in the reader’s language', async () => {
    const logo = await app.services.experiences.addLogo(project.id, pngOf(120, 40), system);
    const dark = await app.services.experiences.addLogo(project.id, pngOf(120, 40, [255, 255, 255]), system);
    await publish({
      ...{ displayName: 'Acme', accent: '#ffd400', logoId: logo.id, darkLogoId: dark.id },
      texts: [
        { locale: 'en', key: 'privacyUrl', text: 'https://acme.example/privacy?a=1&b=2' },
        { locale: 'de', key: 'heading', text: 'Willkommen bei {app}' },
        { locale: 'de', key: 'footer', text: '{project} GmbH' },
      ],
    });
    const { html, headers } = await hostedPage({ ui_locales: 'de' });
    expect(html).toContain('<link rel="stylesheet" href="/experience/accent/1/ffd400.css"></head>');
    expect(html).toContain(`<source srcset="/experience/logos/${dark.id}" media="(prefers-color-scheme: dark)">`);
    expect(html).toContain(`src="/experience/logos/${logo.id}"`);
    expect(html).toContain('Willkommen bei App</h1>');
    expect(html).toContain('<p>Acme GmbH</p>');
    expect(html).toContain(
      'href="https://acme.example/privacy?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">Datenschutz',
    );
    expect(html).toContain('data-project-name="Acme"');
    expect(headers.get('content-security-policy')).toContain("img-src 'self' data:;");
    const english = await hostedPage({ ui_locales: 'en' });
    expect(english.html).toContain('Sign in to App</h1>');
  });

  it('escapes the texts of a project', async () => {
    const evil = '"><script>alert(1)</script>';
    await publish({
      displayName: evil,
      texts: [
        { locale: 'en', key: 'heading', text: evil },
        { locale: 'en', key: 'footer', text: '</head><img src=x onerror=alert(1)>' },
      ],
    });
    const { html } = await hostedPage();
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain('<img src=x');
    expect(html).toContain('&lt;/head&gt;');
  });

  it('is not affected by the branding of another project', async () => {
    await publish({ displayName: 'Acme' });
    project = await app.make.project({ name: 'Other' });
    client = (await app.make.client(project)).client;
    expect((await hostedPage()).html).not.toContain('Acme');
  });
});

describe('the pages of a logout', () => {
  it('have the application’s name and its project’s branding', async () => {
    await publish({ displayName: 'Acme', accent: '#c81e3c' });
    const out = await browser.get(`${app.url}/oauth2/end_session?client_id=${client.id}`);
    const html = await out.text();
    expect(html).toContain('<strong>App</strong> <span id="project">Acme</span>');
    expect(html).toContain('/experience/accent/1/c81e3c.css');
  });
});

describe('GET /experience/of/{publishable key}', () => {
  const origin = new URL(redirectUri).origin;
  const branding = (key: string, headers: Record<string, string> = { origin }) =>
    fetch(`${app.url}/experience/of/${key}`, { headers });

  it('has the published colors, readable in both themes, and the logo', async () => {
    const { client: own, publishableKey } = await app.make.client(project);
    const logo = await app.services.experiences.addLogo(project.id, pngOf(120, 40), system);
    expect(await (await branding(publishableKey)).json()).toEqual({ colors: null, logo: null });
    await publish({ accent: '#ffd400', logoId: logo.id });
    const response = await branding(publishableKey);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect([response.headers.get('vary'), response.headers.get('cache-control')]).toEqual([
      expect.stringContaining('Origin'),
      'private, max-age=60',
    ]);
    const { light, dark } = accentTheme('#ffd400');
    expect(await response.json()).toEqual({
      colors: {
        accent: [light.accent, dark.accent],
        'on-accent': [light.onAccent, dark.onAccent],
        link: [light.accentText, dark.accentText],
      },
      logo: [logo.id, logo.id],
    });
    await app.services.clients.update(own, { disabled: true }, system);
    // The client is cached for a minute.
    app.clock.turn(61);
    expect((await branding(publishableKey)).status).toBe(404);
  });

  it('is the branding of the key’s project', async () => {
    const { publishableKey } = await app.make.client(await app.make.project({ name: 'Other' }));
    await publish({ accent: '#ffd400' });
    expect(await (await branding(publishableKey)).json()).toEqual({ colors: null, logo: null });
  });

  it('is readable only from its origin, with its key', async () => {
    await publish({ accent: '#ffd400' });
    const { publishableKey, secretKey } = await app.make.client(project);
    const refused = await Promise.all([
      branding(publishableKey, { origin: 'https://evil.example.com' }),
      branding(publishableKey, {}),
      branding(secretKey),
      branding('lk_pk_unknown'),
      branding('%00'),
      branding('x'.repeat(5000)),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    expect(refused.map(({ headers }) => headers.get('access-control-allow-origin'))).toEqual(refused.map(() => null));
    const bodies = await Promise.all(refused.map((response) => response.text()));
    expect(new Set(bodies).size).toBe(1);
  });
});

describe('GET /experience/logos/{id}', () => {
  it('serves the uploaded bytes as an image only, immutable', async () => {
    const bytes = pngOf(64, 64);
    const { id } = await app.services.experiences.addLogo(project.id, bytes, system);
    const response = await fetch(`${app.url}/experience/logos/${id}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    });
  });

  it.each(['nobody', '018f0000-0000-7000-8000-000000000000', '..%2f..%2fetc%2fpasswd'])(
    'returns 404 for %s',
    async (id) => {
      const response = await fetch(`${app.url}/experience/logos/${id}`);
      expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
    },
  );
});

describe('GET /experience/accent/{rule}/{color}.css', () => {
  it('depends only on the URL', async () => {
    const response = await fetch(`${app.url}/experience/accent/1/ffd400.css`);
    expect(response.headers.get('content-type')).toContain('text/css');
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(await response.text()).toContain('--on-accent:#0b0e13');
  });

  it.each(['FFD400', 'red', 'ffd400;}', '%7d%7d'])('returns 404 for %s', async (color) => {
    expect((await fetch(`${app.url}/experience/accent/1/${color}.css`)).status).toBe(404);
  });
});

describe('GET /admin/preview/{page}', () => {
  const headers = { Authorization: `Bearer ${bootstrapToken}` };

  it('is the hosted page with the draft, in a same-origin frame, with forms blocked', async () => {
    await app.services.experiences.saveDraft(
      { projectId: project.id },
      { accent: '#c81e3c', displayName: 'Soon' },
      system,
    );
    const response = await fetch(`${app.url}/admin/preview/signin?project=${project.id}&step=code&lang=fr`, {
      headers,
    });
    const html = await response.text();
    expect(html).toContain('/experience/accent/1/c81e3c.css');
    expect(html).toMatch(/data-flow=""/);
    expect(html).toMatch(/data-preview="code"/);
    expect(html).toContain('<html lang="fr"');
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("form-action 'none'");
    expect(policy).toContain("frame-ancestors 'self'");
    expect(response.headers.get('x-frame-options')).toBe('SAMEORIGIN');
    const { html: real } = await hostedPage();
    expect(real).not.toContain('Soon');
  });

  it.each(['error', 'confirm-logout', 'signed-out'])('shows %s', async (page) => {
    const response = await fetch(`${app.url}/admin/preview/${page}?project=${project.id}`, { headers });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('<h1>')]);
  });
});
