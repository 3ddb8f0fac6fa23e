import { expect, type Locator, test } from '@playwright/test';
import { expectAccessible, violations } from '../support/accessibility.ts';
import { AdminApi } from '../support/admin-api.ts';
import { type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Accessibility of all console pages: axe finds nothing in light and dark, and the pages fit 320 px. */

test.describe.configure({ mode: 'parallel' });

let latchkey: Latchkey;
let owner: Visit;
let projectId: string;
let emptyId: string;
let clientId: string;
let userId: string;
let groupId: string;

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  const admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  emptyId = await admin.createProject('Empty');
  const redirectUris = ['https://app.example.com/callback'];
  const backchannelLogoutUri = 'https://app.example.com/logout';
  clientId = (await admin.createClient({ projectId, name: 'Portal', redirectUris, backchannelLogoutUri })).clientId;
  const token = await admin.issueScimToken(projectId);
  const create = async (path: string, schema: string, body: object) => {
    const response = await fetch(`${latchkey.baseUrl}/v1/scim/${projectId}/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
      body: JSON.stringify({ schemas: [`urn:ietf:params:scim:schemas:core:2.0:${schema}`], ...body }),
    });
    return ((await response.json()) as { id: string }).id;
  };
  userId = await create('Users', 'User', { userName: 'katherine@example.com', displayName: 'Katherine Johnson' });
  groupId = await create('Groups', 'Group', { displayName: 'Staff', members: [{ value: userId }] });
  const scopes = [{ key: 'notes:read', description: 'Read notes' }];
  await admin.run('mutation ($input: CreateApiInput!) { createApi(input: $input) { id } }', {
    input: { projectId, identifier: 'https://mcp.example.com/mcp', name: 'Notes', scopes },
  });
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
});

async function visit(paths: readonly string[]): Promise<void> {
  const { page } = owner;
  for (const path of paths) {
    await test.step(path, async () => {
      await page.goto(`${latchkey.baseUrl}/admin${path}`);
      await expect(page.locator('main :is(h1, h2, h3)').first()).toBeVisible();
      await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
      await expectAccessible(page);
    });
  }
}

const people = ['overview', 'applications', 'apis', 'users', 'groups', 'directory'];
const rest = [
  'experience',
  'factors',
  'session-policy',
  'events',
  'troubleshooting',
  'webhooks',
  'log-streams',
  'logout-deliveries',
  'team',
];
const messages = ['messages', 'messages/templates', 'messages/sending'];
const inProject = (id: string, paths: readonly string[]) => paths.map((path) => `/projects/${id}/${path}`);

test('pages of the instance', async () => {
  await visit(['/projects', '/projects?new', '/team', '/audit', '/keys', '/system', '/mailbox', '/nowhere']);
});

test('pages of a project: overview, people, directory', async () => {
  await visit([
    ...inProject(projectId, people),
    `/projects/${projectId}/users/${userId}`,
    `/projects/${projectId}/users/00000000-0000-7000-8000-000000000000`,
    `/projects/${projectId}/groups/${groupId}`,
  ]);
});

test('pages of a project: sign-in, activity, settings', async () => {
  await visit(inProject(projectId, [...rest, ...messages, 'settings']));
});

test('pages of an application', async () => {
  const tabs = ['', '/settings', '/keys', '/tokens', '/apis', '/security', '/roles', '/access', '/claims', '/events'];
  tabs.push('/danger');
  await visit([
    `/projects/${projectId}/applications/new`,
    ...tabs.map((tab) => `/projects/${projectId}/applications/${clientId}${tab}`),
  ]);
});

test('the metadata and code that protect an API', async () => {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/apis`);
  await page.getByRole('button', { name: 'Protect Notes' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('https://mcp.example.com/.well-known/oauth-protected-resource/mcp');
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download metadata' }).click();
  expect((await download).suggestedFilename()).toBe('protected-resource.json');
  await dialog.getByRole('tab', { name: 'Python' }).click();
  await expect(dialog.getByRole('region', { name: 'Python' })).toContainText('https://mcp.example.com/mcp');
  await expectAccessible(page);
});

test('pages of a project without users', async () => {
  await visit(inProject(emptyId, people));
});

test('pages of a project without activity', async () => {
  await visit(inProject(emptyId, [...rest, ...messages]));
});

test('primary and dangerous buttons are readable while hovered, in both themes', async () => {
  const { page } = owner;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const [path, name] of [
      ['applications', 'Create application'],
      ['settings', 'Delete project'],
    ] as const) {
      await page.goto(`${latchkey.baseUrl}/admin/projects/${emptyId}/${path}`);
      const target = page.getByRole('main').getByText(name, { exact: true }).last();
      await target.hover();
      expect(await violations(page, 'colors'), `${name} in ${colorScheme}`).toEqual([]);
    }
  }
});

test('controls have a contrast of 3 : 1 with the card, in both themes', async () => {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}/settings`);
  const controls = {
    field: page.getByRole('textbox', { name: 'Name' }),
    select: page.getByRole('combobox', { name: 'ID token signature' }),
    radio: page.getByRole('radio', { name: 'Private key (private_key_jwt)' }),
    switch: page.getByRole('switch', { name: 'Third-party application' }),
  };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
    for (const [name, control] of Object.entries(controls)) {
      const edge = () => control.evaluate(contrastWithCard);
      await expect.poll(edge, `${name} in ${colorScheme}`).toBeGreaterThanOrEqual(3);
    }
  }
});

test('chosen controls differ from the others in forced colors', async () => {
  const { page } = owner;
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/directory`);
  const track = (name: string) => page.getByRole('switch', { name }).locator('+ *');
  const background = (control: Locator) => control.evaluate((element) => getComputedStyle(element).backgroundColor);
  const on = await background(track('Allow directory requests'));
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}/settings`);
  expect(await background(track('Third-party application'))).not.toBe(on);
  const secret = (method: string) => page.getByRole('radio', { name: `Client secret (client_secret_${method})` });
  const radios = [secret('basic'), secret('post')] as const;
  const before = await background(radios[1]);
  await radios[1].check();
  await expect.poll(() => background(radios[1])).not.toBe(before);
  expect(await background(radios[0])).toBe(before);

  const underline = (name: string) =>
    page
      .getByRole('main')
      .getByRole('link', { name, exact: true })
      .evaluate((tab) => getComputedStyle(tab, '::after').borderBottomStyle);
  expect([await underline('Settings'), await underline('Danger')]).toEqual(['solid', 'none']);
  await page.keyboard.press('Control+k');
  const option = (selected: boolean) => page.getByRole('dialog').getByRole('option', { selected }).first();
  await expect(option(true)).toHaveCSS('outline-style', 'solid');
  await expect(option(false)).toHaveCSS('outline-style', 'none');
  await expect(page.getByRole('dialog')).toHaveCSS('border-style', 'solid');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Account: / }).click();
  const theme = (name: string) => page.getByRole('radio', { name, exact: true }).locator('+ label');
  await expect.poll(() => background(theme('System'))).not.toBe(await background(theme('Dark')));
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/applications/${clientId}`);
  const snippet = (name: string) => page.getByRole('tab', { name }).evaluate((tab) => getComputedStyle(tab).color);
  expect(await snippet('Browser only')).not.toBe(await snippet('React'));
  await page.emulateMedia({ forcedColors: 'none' });
});

test('dots of events are visible in forced colors', async () => {
  const { page } = owner;
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto(`${latchkey.baseUrl}/admin/projects/${projectId}/events`);
  const dot = page.locator('main summary > span').first();
  const [edge, ground] = await dot.evaluate((element) => [
    getComputedStyle(element).borderTopColor,
    getComputedStyle(element).backgroundColor,
  ]);
  expect(edge).not.toBe(ground);
  await expect(dot).toHaveCSS('border-top-width', '4px');
  await page.emulateMedia({ forcedColors: 'none' });
});

test('no transition runs where motion is reduced', async () => {
  const { page } = owner;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${latchkey.baseUrl}/admin/projects`);
  await expect(page.getByRole('link', { name: 'Acme' }).first()).toHaveCSS('transition-property', 'none');
});

/** Contrast (WCAG 2.2) of a control's border, or of a switch's track, with the card. Runs in the page. */
function contrastWithCard(control: Element): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? [])
      .map((digits) => Number(digits) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const track = control.role === 'switch' && control.nextElementSibling;
  const edge = track ? getComputedStyle(track).backgroundColor : getComputedStyle(control).borderTopColor;
  const card = getComputedStyle(control.closest('section') as Element).backgroundColor;
  const [dark = 0, light = 0] = [luminance(edge), luminance(card)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
