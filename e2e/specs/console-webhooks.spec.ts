import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect, test } from '@playwright/test';
import { AdminApi } from '../support/admin-api.ts';
import { tabTo, type Visit, visitConsole } from '../support/console.ts';
import { type Latchkey, sharedLatchkey } from '../support/latchkey.ts';

/** Webhooks from the console to a receiver that verifies signatures, for an admin by keyboard and for a viewer. */

interface Received {
  id: string;
  type: string;
  text: string;
  signatures: string[];
  /** As in Standard Webhooks. */
  signedWith(secret: string): boolean;
}

let latchkey: Latchkey;
let admin: AdminApi;
let projectId: string;
let owner: Visit;
let receiver: Server;
let address: string;
let status = 204;
const received: Received[] = [];

test.beforeAll(async ({ browser }) => {
  latchkey = await sharedLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  projectId = await admin.createProject('Acme');
  receiver = createServer(async (req, res) => {
    const text = await textOf(req).catch(() => null);
    // The service ended first.
    if (text === null) return;
    const [id, at] = [String(req.headers['webhook-id']), String(req.headers['webhook-timestamp'])];
    const signatures = String(req.headers['webhook-signature']).split(' ');
    received.push({
      ...{ id, text, signatures, type: (JSON.parse(text) as { type: string }).type },
      signedWith: (secret) => {
        const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
        return signatures.includes(`v1,${createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64')}`);
      },
    });
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

const pages = () => `${latchkey.baseUrl}/admin/projects/${projectId}/webhooks`;
const arrived = (type: string) => received.filter((one) => one.type === type);

test('an admin creates and tests a webhook, rotates its secret and replays a delivery by keyboard', async () => {
  const { page } = owner;
  const press = async (name: string, within = page.locator('body')) => {
    await tabTo(page, within.getByRole('button', { name, exact: true }).first());
    await page.keyboard.press('Enter');
  };
  const secretIn = async () => {
    const dialog = page.getByRole('dialog', { name: 'Signing secret' });
    const secret = await dialog.getByText(/^whsec_/).innerText();
    await expect(dialog).toContainText('stores it encrypted');
    await tabTo(page, dialog.getByRole('checkbox'));
    await page.keyboard.press('Space');
    await press('Done', dialog);
    await expect(dialog).toBeHidden();
    return secret;
  };
  await page.goto(pages());
  await press('Create webhook');
  const form = page.getByRole('dialog', { name: 'Create webhook' });
  await expect(form.getByLabel('URL')).toBeFocused();
  await page.keyboard.type('http://hooks.example.com/');
  await page.keyboard.press('Enter');
  await expect(form).toContainText('Must be https');
  await form.getByLabel('URL').fill(address);
  await form.getByRole('combobox', { name: 'Events' }).fill('project.');
  await expect(form.locator('.mantine-MultiSelect-input')).toHaveCSS('outline-style', 'solid');
  await page.getByRole('option', { name: 'project.updated' }).click();
  await page.keyboard.press('Escape');
  await form.getByLabel('Description').fill('Order service');
  await page.keyboard.press('Enter');
  const secret = await secretIn();

  await page.getByRole('link', { name: 'Order service' }).click();
  await press('Send test event');
  await expect(page.locator('summary', { hasText: 'webhook.tested' })).toContainText('Delivered');
  expect(arrived('webhook.tested').map((one) => one.signedWith(secret))).toEqual([true]);

  await press('Rotate secret');
  await press('Rotate secret', page.getByRole('dialog'));
  const second = await secretIn();
  status = 500;
  await admin.run('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { id } }', {
    input: { id: projectId, name: 'Renamed' },
  });
  const delivery = page.locator('li', { has: page.locator('summary', { hasText: 'project.updated' }) });
  await expect(delivery).toContainText('last response 500');
  await tabTo(page, delivery.locator('summary'));
  await page.keyboard.press('Enter');
  await press('Show body', delivery);
  await expect(delivery.getByRole('region', { name: 'Body' })).toContainText('"Renamed"');
  await tabTo(page, delivery.getByRole('button', { name: 'Retry now', exact: true }));
  // Only now: an automatic retry that succeeded would remove the button.
  status = 200;
  await page.keyboard.press('Enter');
  await expect(delivery.locator('summary')).toContainText('Delivered');
  const [first, again] = arrived('project.updated');
  expect(again?.id).toBe(first?.id);
  expect([again?.signedWith(secret), again?.signedWith(second), again?.signatures.length]).toEqual([true, true, 2]);
});

test('a viewer sees deliveries, and neither the address nor any control', async ({ browser }) => {
  const who = { email: 'viewer@example.com', role: 'PROJECT_VIEWER', projectId } as const;
  const { page, context, browserErrors } = await visitConsole(browser, latchkey, admin, who);
  await page.goto(pages());
  await expect(page.getByText('this page is read-only')).toBeVisible();
  await page.getByRole('link', { name: 'Order service' }).click();
  await expect(page.locator('summary').first()).toBeVisible();
  await expect(page.getByText('token=abc')).toBeHidden();
  for (const name of ['Edit', 'Send test event', 'Rotate secret', 'Disable', 'Delete webhook', 'Replay']) {
    await expect(page.getByRole('button', { name, exact: true })).toBeHidden();
  }
  expect(browserErrors).toEqual([]);
  await context.close();
});
