import { createHash, randomBytes } from 'node:crypto';
import type { Claims } from '@latchkey/node';
import { type BrowserContext, expect, type Page, test } from '@playwright/test';
import { type Callback, listenForCallback } from '../clients/callback.ts';
import { expectAccessible } from './accessibility.ts';
import { AdminApi } from './admin-api.ts';
import { Application, type ClientSettings, type Inbox, type ProjectSettings } from './application.ts';
import { type Latchkey, sharedAdjustableLatchkey } from './latchkey.ts';

/** The worker's Latchkey with a test clock, and an application's redirect URI, shared by the tests of a file. */
export class HostedPage {
  latchkey!: Latchkey;
  admin!: AdminApi;
  callback!: Callback;

  static ofTests(): HostedPage {
    const hosted = new HostedPage();
    test.beforeAll(async () => {
      hosted.latchkey = await sharedAdjustableLatchkey();
      hosted.admin = new AdminApi(hosted.latchkey.baseUrl, hosted.latchkey.adminToken);
      await hosted.admin.ignoreMessages();
      hosted.callback = await listenForCallback();
    });
    test.afterAll(() => hosted.callback.close());
    return hosted;
  }

  register(settings: ProjectSettings & ClientSettings = {}): Promise<Application> {
    return Application.register(this.admin, this.latchkey, this.callback.redirectUri, settings);
  }

  /** Opens the hosted page as an application does; resolves to the claims that its back end gets. */
  async begin(page: Page, application: Application, more: Record<string, string> = {}): Promise<() => Promise<Claims>> {
    const { redirectUri } = this.callback;
    const codeVerifier = randomBytes(32).toString('base64url');
    // Of this sign-in: others may have returned to the application before it.
    const state = randomBytes(16).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: application.clientId,
      redirect_uri: redirectUri,
      scope: 'openid email phone',
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
      ...more,
    });
    await page.goto(`${this.latchkey.baseUrl}/authorize?${query}`);
    return async () => {
      const code = (await this.callback.next(state)).searchParams.get('code') ?? '';
      await titled(page, 'Welcome back');
      return application.redeem(code, { codeVerifier, redirectUri });
    };
  }
}

export const address = (page: Page) => page.getByLabel('Email address');
export const sixDigits = (page: Page) => page.getByLabel('Six-digit code');
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
export const alert = (page: Page) => page.getByRole('alert').filter({ visible: true });
export const titled = (page: Page, name: string) => expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

export async function enterAddress(page: Page, userid: string): Promise<void> {
  await address(page).fill(userid);
  await press(page, 'Continue');
}

/** Enters the address and the code from the mail. */
export async function proveAddress(page: Page, inbox: Inbox): Promise<void> {
  await enterAddress(page, inbox.address);
  await titled(page, 'Check your email');
  await sixDigits(page).fill(await inbox.code());
}

/** Reads the recovery codes, and continues. */
export async function saveRecoveryCodes(page: Page): Promise<string[]> {
  await titled(page, 'Save your recovery codes');
  const codes = await page.locator('#codes li').allTextContents();
  expect(new Set(codes).size).toBe(10);
  await expectAccessible(page);
  await press(page, 'I’ve saved these codes');
  return codes;
}

/** The virtual authenticator answers suggestions immediately; without suggestions, tests reach the button. */
export function withoutSuggestions(target: Page | BrowserContext): Promise<unknown> {
  return target.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false;
  });
}
