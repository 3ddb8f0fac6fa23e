import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Client } from '../src/domain/clients/client.entity.ts';
import { projectIssuerUrl } from '../src/domain/projects/issuer.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import { redirectTo } from '../src/domain/saml/bindings.ts';
import { type Answer, type Expected, readAnswer } from '../src/domain/saml/messages/answer.ts';
import { type NewAuthnRequest, newAuthnRequest } from '../src/domain/saml/messages/authn-request.ts';
import { type IdentityProvider, readIdentityProvider } from '../src/domain/saml/messages/metadata.ts';
import { pemOf, readCertificate } from '../src/domain/saml/security/certificate.ts';
import { read } from '../src/domain/saml/xml/reader.ts';
import { CookieBrowser } from './browser.ts';
import type { TestApp } from './build-app.ts';
import { rsaKey, type TestKey } from './saml.ts';

export const acsUrl = 'https://sp.example.com/acs';
export const spEntityId = 'https://sp.example.com/metadata';
export const sloUrl = 'https://sp.example.com/slo';
const sharedKey = rsaKey();

type ClientSettings = Partial<Parameters<TestApp['make']['client']>[1]>;

/** The form that a page posts to the service provider. */
export interface PostedForm {
  action: string;
  response: string;
  relayState: string | undefined;
}

interface Asked extends Partial<NewAuthnRequest> {
  relayState?: string;
  /** Changes the XML of the request. */
  edit?: (xml: string) => string;
}

/** A SAML service provider and a user's browser. */
export class ServiceProvider {
  browser = new CookieBrowser();
  requestId = '';

  constructor(
    readonly app: TestApp,
    readonly project: Project,
    readonly client: Client,
    readonly key: TestKey = sharedKey,
  ) {}

  static async at(
    app: TestApp,
    project: Project,
    settings: ClientSettings = {},
    key = sharedKey,
  ): Promise<ServiceProvider> {
    const { client } = await app.make.client(project, {
      ...{ redirectUris: [acsUrl], postLogoutRedirectUris: [], samlEntityId: spEntityId },
      ...{ samlCertificates: [pemOf(key.certificate)], ...settings },
    });
    return new ServiceProvider(app, project, client, key);
  }

  get issuer(): string {
    return projectIssuerUrl(this.app.url, this.project.slug);
  }

  async signIn(user: Parameters<TestApp['make']['session']>[1], amr = ['swk']): Promise<string> {
    const { session, secret } = await this.app.make.session(this.project, user, amr);
    this.browser.cookies.set(`lk-session-${this.project.id}`, secret);
    return session.id;
  }

  request({ relayState: _, edit = (xml) => xml, ...over }: Asked = {}): string {
    this.requestId = `_${randomBytes(10).toString('hex')}`;
    const { xml } = newAuthnRequest({
      ...{ id: this.requestId, issuer: this.client.samlEntityId ?? '', at: this.app.clock.now() },
      ...{ destination: `${this.issuer}/saml/sso`, acsUrl, ...over },
    });
    return edit(xml);
  }

  /** The address of a request by redirect, unsigned. */
  address(asked: Asked = {}): string {
    const fields = new URLSearchParams({ SAMLRequest: deflateRawSync(this.request(asked)).toString('base64') });
    if (asked.relayState !== undefined) fields.set('RelayState', asked.relayState);
    return `${this.issuer}/saml/sso?${fields}`;
  }

  signedAddress(asked: Asked = {}): Promise<string> {
    const message = { name: 'SAMLRequest', xml: this.request(asked), relayState: asked.relayState } as const;
    return redirectTo(`${this.issuer}/saml/sso`, message, this.key);
  }

  ask(asked: Asked = {}): Promise<Response> {
    return this.browser.get(this.address(asked));
  }

  async metadata(): Promise<IdentityProvider> {
    return readIdentityProvider(await (await fetch(`${this.issuer}/saml/metadata`)).text());
  }

  async expected(over: Partial<Expected> = {}): Promise<Expected> {
    const { entityId, signingCertificates } = await this.metadata();
    return {
      keys: signingCertificates.map((pem) => readCertificate(pem).key),
      ...{
        issuer: entityId,
        audience: this.client.samlEntityId ?? '',
        recipient: acsUrl,
        requestId: this.requestId,
        now: this.app.clock.now(),
      },
      ...over,
    };
  }

  /** What the posted response asserts. */
  async answerOf(page: Response, over: Partial<Expected> = {}): Promise<Answer> {
    const { response } = await formOf(page);
    return readAnswer(read(Buffer.from(response, 'base64')), await this.expected(over));
  }

  /** The status of the posted error. */
  async statusOf(page: Response): Promise<string> {
    return this.answerOf(page).then(
      () => 'Success',
      (error: Error) => error.message.replace('status-not-success: ', ''),
    );
  }
}

export async function formOf(page: Response): Promise<PostedForm> {
  const html = await page.text();
  expect(page.status, html).toBe(200);
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1];
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1] ?? '';
  return { action, response: field('SAMLResponse') ?? '', relayState: field('RelayState') };
}
