import { expect } from 'vitest';
import { system } from '../src/domain/kernel/actor.ts';
import type { Organization } from '../src/domain/organizations/organization.entity.ts';
import type { OpenLink } from '../src/domain/portal/open-links.ts';
import type { PortalTask } from '../src/domain/portal/portal-link.entity.ts';
import { readPortalToken } from '../src/domain/portal/portal-secret.ts';
import type { Services } from '../src/services.ts';
import { CookieBrowser } from './browser.ts';
import type { TestApp } from './build-app.ts';

const email = 'ivy@globex.example';

/** A browser with a session of a new portal link. */
export class PortalVisit {
  private csrf = '';

  private constructor(
    readonly linkId: string,
    private readonly url: string,
    readonly browser: CookieBrowser,
  ) {}

  static async of(
    { services, url: base }: TestApp,
    of: Organization,
    can: readonly PortalTask[],
  ): Promise<PortalVisit> {
    const { url, portalLink } = await services.portalLinks.create(of, { email, can }, system);
    const browser = new CookieBrowser();
    await browser.post(`${base}${new URL(url).pathname}`, { change: 'open' });
    return new PortalVisit(portalLink.id, `${base}/portal`, browser);
  }

  async page(): Promise<string> {
    return (await this.browser.get(this.url)).text();
  }

  async change(change: string, fields: Record<string, string> = {}): Promise<{ status: number; text: string }> {
    // A page without forms has none.
    this.csrf = /name="csrf" value="([^"]+)"/.exec(await this.page())?.[1] ?? this.csrf;
    const answer = await this.browser.post(this.url, { csrf: this.csrf, change, ...fields });
    return { status: answer.status, text: await answer.text() };
  }

  /** The address of a prepared test of a connection. */
  async testUrl(): Promise<string> {
    const { status, text } = await this.change('test-connection');
    expect(status).toBe(200);
    const url = /href="([^"]+\/test\?[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    return url.replace(new URL(url).origin, new URL(this.url).origin);
  }
}

/** A link with a session, as the services see it. */
export async function portalLinkOf(
  services: Services,
  of: Organization,
  can: readonly PortalTask[],
): Promise<OpenLink> {
  const { url } = await services.portalLinks.create(of, { email, can }, system);
  const token = readPortalToken(url.slice(-65));
  const session = token && (await services.portalLinks.open(token, system));
  const link = session && (await services.portal.visit(session));
  if (!link) throw new Error('the link does not work');
  return link;
}
