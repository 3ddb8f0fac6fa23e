import { type Browser, type BrowserContext, expect, type Locator, type Page } from '@playwright/test';
import type { AdminApi } from './admin-api.ts';
import type { Latchkey } from './latchkey.ts';
import { signInOnPage } from './sign-in.ts';

type Role = 'OWNER' | 'PROJECT_ADMIN' | 'PROJECT_VIEWER' | 'ORGANIZATION_ADMIN';

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Errors of the browser: CSP violations and script errors. Expected to be empty. */
  browserErrors: string[];
}

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Cookies of users after their first sign-in at a server. */
const sessions = new Map<string, StorageState>();

/**
 * A separate browser, signed in to the console as a user with that role. The first visit of a user signs in on the
 * page; later ones have the cookies of that sign-in, as long as its session lives, and no device key: a test that signs in
 * again needs a separate user.
 */
export async function visitConsole(
  browser: Browser,
  latchkey: Latchkey,
  admin: AdminApi,
  who: { email: string; role?: Role; projectId?: string; organizationIds?: readonly string[] },
  path = '/admin',
): Promise<Visit> {
  const { email, role, projectId, organizationIds } = who;
  if (role) {
    const query = 'mutation ($input: GrantRoleInput!) { grantRole(input: $input) { id } }';
    await admin.run(query, { input: { email, role, projectId, organizationIds } });
  }
  const visitor = `${latchkey.baseUrl} ${email}`;
  const storageState = sessions.get(visitor);
  const viewport = { width: 1280, height: 900 };
  const context = await browser.newContext({ viewport, ...(storageState && { storageState }) });
  const page = await context.newPage();
  const browserErrors = listen(page);
  await page.goto(latchkey.baseUrl + path);
  const signIn = page.getByLabel('Email address');
  await expect(signIn.or(page.getByRole('button', { name: /^Account: / })).first()).toBeVisible();
  if (await signIn.isVisible()) {
    await signInOnPage(page, admin, email);
    await expect(page).toHaveURL(new RegExp(`^${latchkey.baseUrl}/admin`));
    sessions.set(visitor, await context.storageState());
  }
  return { page, context, browserErrors };
}

function listen(page: Page): string[] {
  const browserErrors: string[] = [];
  page.on('pageerror', (error) => browserErrors.push(error.message));
  page.on('console', (message) => {
    // Tests provoke 401 and 503, which are reported here but are not errors of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      browserErrors.push(message.text());
  });
  return browserErrors;
}

/** Presses Tab until the target has focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`keyboard focus never reached ${target}`);
}

/** Chooses the first option of an open list, whose name this is. */
export async function chooseByKeyboard(page: Page, name: string | RegExp): Promise<void> {
  const option = page.getByRole('option', { name });
  await expect(option).toBeVisible();
  // A list forgets its position in a timer after it opens, which may run late on a busy page: then Enter does nothing.
  await expect(async () => {
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(option).toBeHidden({ timeout: 10_000 });
  }).toPass();
}

/** The secret just issued, shown in full in `within`; not the abbreviated ones in lists that reload in the meantime. */
export function issuedSecret(within: Page | Locator, kind: 'admin' | 'scim' | 'sk' | 'cs'): Locator {
  return within.getByText(new RegExp(`^lk_${kind}_[\\w-]{43}$`));
}
