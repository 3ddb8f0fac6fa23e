import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect, test } from '@playwright/test';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Log streams from the console to a receiver of batches, for an admin by keyboard, a viewer and an owner. */

interface Received {
  type: string;
  data: { projectId: string | null };
}

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;
let receiver: Server;
let address: string;
let status = 204;
const received: Received[] = [];
const secrets = new Set<string | undefined>();

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  receiver = createServer(async (req, res) => {
    const text = await textOf(req).catch(() => null);
    // The service ended first.
    if (text === null) return;
    secrets.add(req.headers.authorization);
    if (status < 300) for (const line of text.trim().split('\n')) received.push(JSON.parse(line) as Received);
    res.writeHead(status).end();
  });
  await new Promise<void>((done) => {
    receiver.listen(0, '127.0.0.1', done);
  });
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in?token=abc`;
  owner = await visitConsole(browser, latchkey, admin, { email: 'owner@example.com', role: 'OWNER' });
});

test.afterAll(async () => {
  expect(owner.browserErrors).toEqual([]);
  await owner.context.close();
  receiver.close().closeAllConnections();
});

const pages = () => `${latchkey.baseUrl}/admin/projects/${projectId}/log-streams`;
const arrived = (type: string) => received.filter((one) => one.type === type).length;

test('an admin creates, tests, pauses, resumes and deletes a log stream by keyboard', async () => {
  const { page } = owner;
  const press = async (name: string, within = page.locator('body')) => {
    await tabTo(page, within.getByRole('button', { name, exact: true }).first());
    await page.keyboard.press('Enter');
  };
  await page.goto(pages());
  await press('Create log stream');
  const form = page.getByRole('dialog', { name: 'Create log stream' });
  await expect(form.getByLabel('Kind')).toBeFocused();
  await expect(form.getByLabel('Kind').getByRole('option')).toHaveText(['HTTP', 'Syslog']);
  await tabTo(page, form.getByLabel('URL'));
  await page.keyboard.type('http://logs.example.com/');
  await page.keyboard.press('Enter');
  await expect(form).toContainText('Must be https');
  await form.getByLabel('URL').fill(address);
  await form.getByLabel('Secret').fill('Bearer abc');
  await form.getByRole('combobox', { name: 'Events' }).fill('project.');
  await page.getByRole('option', { name: 'project.updated' }).click();
  await page.keyboard.press('Escape');
  await form.getByLabel('Description').fill('Log store');
  await page.keyboard.press('Enter');
  await expect(form).toBeHidden();

  await page.getByRole('link', { name: 'Log store' }).click();
  await press('Send test event');
  await expect.poll(() => arrived('log-stream.tested'), { timeout: 15_000 }).toBe(1);
  expect([...secrets]).toEqual(['Bearer abc']);
  await expect(page.getByText('OK', { exact: true })).toBeVisible({ timeout: 15_000 });

  status = 401;
  const rename = (name: string) =>
    admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
      input: { id: projectId, name },
    });
  await rename('Renamed');
  await expect(page.getByText('The receiver responded with 401. Check the secret.')).toBeVisible({ timeout: 15_000 });
  await press('Pause');
  await expect(page.getByText('Paused', { exact: true })).toBeVisible();
  status = 204;
  await press('Resume');
  await expect.poll(() => arrived('project.updated'), { timeout: 15_000 }).toBe(1);

  await press('Delete log stream');
  await press('Delete log stream', page.getByRole('dialog'));
  await expect(page.getByText('No log streams yet')).toBeVisible();
});

test('a viewer sees the state, and neither the target, the secret nor any control', async ({ browser }) => {
  const input = { projectId, kind: 'HTTP', target: address, secret: 'Bearer abc', description: 'Log store' };
  await admin.run('mutation ($input: CreateLogStreamInput!) { createLogStream(input: $input) { id } }', { input });
  const who = { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(pages());
  await expect(page.getByText('this page is read-only')).toBeVisible();
  await page.getByRole('link', { name: 'Log store' }).click();
  await expect(page.getByText('In the header Authorization')).toBeVisible();
  await expect(page.getByText('token=abc')).toBeHidden();
  await expect(page.getByText('Bearer abc')).toBeHidden();
  for (const name of ['Edit', 'Send test event', 'Pause', 'Delete log stream', 'Create log stream']) {
    await expect(page.getByRole('button', { name, exact: true })).toBeHidden();
  }
  await page.goto(`${latchkey.baseUrl}/admin/log-streams`);
  await expect(page.getByText('Send audit events of this instance')).toBeHidden();
  expect(browserErrors.filter((text) => !/forbidden|403/i.test(text))).toEqual([]);
  await context.close();
});

/** Deletes the log streams of the instance, which would get the events of other tests. */
async function deleteStreams(): Promise<void> {
  const { logStreams } = await admin.run<{ logStreams: { id: string }[] }>('{ logStreams { id } }');
  for (const { id } of logStreams) await admin.run(`mutation { deleteLogStream(id: "${id}") }`);
}

test('an owner sends the events of the instance and of all projects, from the audit page', async () => {
  const { page } = owner;
  await page.goto(`${latchkey.baseUrl}/admin/audit`);
  await page.getByRole('main').getByRole('link', { name: 'Log streams' }).click();
  await page.getByRole('button', { name: 'Create log stream' }).click();
  const form = page.getByRole('dialog', { name: 'Create log stream' });
  await form.getByLabel('Kind').selectOption('File');
  await form.getByLabel('File name').fill('audit.jsonl');
  await page.keyboard.press('Enter');
  await expect(form).toContainText('Needs the setting LOG_STREAM_DIR');
  await form.getByLabel('Kind').selectOption('HTTP');
  await form.getByLabel('URL').fill(address);
  await page.keyboard.press('Enter');
  await expect(form).toBeHidden();
  received.length = 0;
  await admin.createProject('Another');
  await expect.poll(() => arrived('project.created'), { timeout: 15_000 }).toBeGreaterThan(0);
  await deleteStreams();
});
