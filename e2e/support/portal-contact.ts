import { expect, type Locator, type Page } from '@playwright/test';
import { tabTo } from './console.ts';
import type { TxtServer } from './txt-server.ts';

/** The IT contact of a company in the set-up portal. Counts what they do. */
export class Contact {
  readonly acts = { clicks: 0, fields: 0 };

  constructor(
    private readonly page: Page,
    private readonly options: { byKeyboard?: boolean } = {},
  ) {}

  /** Presses a button. */
  async click(name: string): Promise<void> {
    await this.press(this.page.getByRole('button', { name, exact: true }));
  }

  async follow(name: string): Promise<void> {
    await this.press(this.page.getByRole('link', { name, exact: true }));
  }

  async fill(label: string, text: string): Promise<void> {
    this.acts.fields += 1;
    const field = this.field(label);
    if (!this.options.byKeyboard) return field.fill(text);
    await tabTo(this.page, field);
    await this.page.keyboard.type(text);
  }

  async choose(label: string, value: string): Promise<void> {
    this.acts.fields += 1;
    await this.field(label).selectOption(value);
  }

  /** A value to copy. */
  valueOf(label: string): Promise<string> {
    return this.field(label).inputValue();
  }

  /** Adds a domain and its record. */
  async prove(domain: string, dns: TxtServer): Promise<void> {
    await this.fill('Domain', domain);
    await this.click('Add domain');
    dns.value = await this.valueOf('Value');
    await this.click(`Check now: ${domain}`);
    await expect(this.page.getByText('Verified', { exact: true })).toBeVisible();
  }

  /** Creates a token. */
  async directory(): Promise<{ address: string; token: string }> {
    await this.click('Create token');
    await expect(this.page.getByRole('status')).toHaveText(/It is shown only once/);
    return { address: await this.valueOf('SCIM address'), token: await this.valueOf('Token') };
  }

  /** Sees that requests arrive, and the token no more. */
  async connected(): Promise<void> {
    await this.page.goto(new URL('/portal', this.page.url()).href);
    await expect(this.page.getByText('Connected', { exact: true })).toBeVisible();
    await expect(this.field('Token')).toHaveCount(0);
    await expect(this.page.getByText('PATCH Groups').first()).toBeVisible();
  }

  async complete(): Promise<void> {
    await this.click('Complete set-up');
    await expect(this.page.getByRole('status')).toHaveText('The set-up is complete. You can close this page.');
  }

  private field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true });
  }

  private async press(target: Locator): Promise<void> {
    this.acts.clicks += 1;
    if (!this.options.byKeyboard) return target.click();
    await tabTo(this.page, target);
    await this.page.keyboard.press('Enter');
  }
}
