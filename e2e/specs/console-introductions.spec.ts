import { expect, test } from '@playwright/test';
import { expectAccessible } from '../support/accessibility.ts';
import { visitConsole } from '../support/console.ts';
import { HostedPage } from '../support/hosted-page.ts';

/** Applications that introduced themselves, in the console (decisions/0392, 0393). */

const hosted = HostedPage.ofTests();

test('an admin accepts registrations, sees who came, blocks and unblocks it', async ({ browser }) => {
  const { projectId } = await hosted.register();
  const { admin, latchkey } = hosted;
  const { project } = await admin.run<{ project: { issuer: string } }>(
    'query ($id: ID!) { project(id: $id) { issuer } }',
    { id: projectId },
  );
  const visit = await visitConsole(browser, latchkey, admin, { email: 'agents@example.com', role: 'OWNER' });
  const { page } = visit;
  const at = `${latchkey.baseUrl}/admin/projects/${projectId}/applications`;
  await page.goto(at);
  await page.getByRole('link', { name: 'Introduced', exact: true }).click();
  await expect(page.getByText('No application has introduced itself')).toBeVisible();
  await page.getByRole('radio', { name: 'Those of certain domains' }).check();
  await expect(page.getByText('Without a domain, none is accepted.')).toBeVisible();
  await page.getByLabel('Domains of documents').fill('claude.ai, *.agents.example');
  await page.getByRole('radio', { name: 'Open', exact: true }).check();
  await page.getByRole('button', { name: 'Save changes', exact: true }).click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Initial access tokens' })).toBeVisible();
  await expectAccessible(page);

  const register = (metadata: object) =>
    fetch(`${project.issuer}/oauth2/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token_endpoint_auth_method: 'none', ...metadata }),
    });
  const known = await register({ client_name: 'Acme Bank', redirect_uris: ['https://evil.example.com/callback'] });
  expect(known.status).toBe(201);
  const local = await register({ client_name: 'Trusted tool', redirect_uris: ['http://127.0.0.1/callback'] });
  expect(local.status).toBe(201);
  await page.reload();
  const row = page.getByRole('row').filter({ hasText: 'evil.example.com' });
  await expect(row).toContainText('Calls itself “Acme Bank”');
  await expect(row).toContainText('Registration');
  await expect(row).toContainText('127.0.0.1');
  await expect(page.getByRole('row').filter({ hasText: "An application on the user's device" })).toContainText(
    'Calls itself “Trusted tool”',
  );
  await expectAccessible(page);

  await row.getByRole('button', { name: 'Block evil.example.com' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click();
  await expect(row.getByText('Blocked', { exact: true })).toBeVisible();
  await row.getByRole('button', { name: 'Unblock evil.example.com' }).click();
  await expect(row.getByText('Allowed', { exact: true })).toBeVisible();

  await row.getByRole('link', { name: /evil\.example\.com/ }).click();
  await expect(page.getByRole('heading', { name: 'evil.example.com', exact: true })).toBeVisible();
  const tabs = page.getByRole('navigation', { name: 'Application sections' });
  await expect(tabs.getByRole('link')).toHaveText(['Tokens & logout', 'Access', 'Events', 'Danger']);
  expect(visit.browserErrors).toEqual([]);
  await visit.context.close();
});
