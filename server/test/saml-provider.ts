import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromQuery } from '../src/domain/saml/bindings.ts';
import { type AuthnRequest, readAuthnRequest } from '../src/domain/saml/messages/authn-request.ts';
import { type NewAssertion, newErrorResponse, newResponse, type Signs } from '../src/domain/saml/messages/response.ts';
import { bindings, nameIdFormats, ns } from '../src/domain/saml/names.ts';
import { keyInfo } from '../src/domain/saml/security/sign.ts';
import { read } from '../src/domain/saml/xml/reader.ts';
import { type Markup, markup } from '../src/domain/saml/xml/write.ts';
import { rsaKey, type TestKey } from './saml.ts';

type Envelope = Parameters<typeof newResponse>[0];

/** What a test changes in the answers of the provider; each part replaces the honest one. */
export interface SamlLies {
  envelope?: Partial<Envelope>;
  assertion?: Partial<NewAssertion>;
  signs?: Signs;
  key?: TestKey;
  seal?: (assertion: Markup) => Markup;
  /** Changes the signed XML. */
  edit?(xml: string): string | Promise<string>;
  relayState?: string;
  /** A status instead of an assertion. */
  status?: Parameters<typeof newErrorResponse>[1];
  /** Takes over the response of the metadata URL. */
  metadata?: RequestListener;
}

/** A form that the provider has the browser post. */
export interface SamlForm {
  action: string;
  fields: { SAMLResponse: string; RelayState: string };
}

/** A SAML identity provider in the test process, honest unless a test lets it lie. */
export class SamlProvider {
  key: TestKey = rsaKey();
  /** Keys that its metadata lists in addition. */
  others: TestKey[] = [];
  lies: SamlLies = {};
  /** The person who is signed in there. */
  person: { nameId: string; format: string; attributes: Record<string, string> } = {
    nameId: 'ada',
    format: nameIdFormats.persistent,
    attributes: {},
  };
  /** The last request. */
  asked!: AuthnRequest;
  /** Times that its metadata was read. */
  reads = 0;
  origin = '';
  private server!: Server;

  private constructor(private readonly now: () => Date) {}

  static async open(now: () => Date): Promise<SamlProvider> {
    const provider = new SamlProvider(now);
    provider.server = createServer((req, res) => {
      provider.reads += 1;
      if (provider.lies.metadata) return provider.lies.metadata(req, res);
      res.writeHead(200, { 'content-type': 'application/samlmetadata+xml' }).end(provider.metadata());
    });
    await new Promise<void>((done) => {
      provider.server.listen(0, '127.0.0.1', done);
    });
    provider.origin = `http://127.0.0.1:${(provider.server.address() as AddressInfo).port}`;
    return provider;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => {
      this.server.close(done);
    });
  }

  get entityId(): string {
    return `${this.origin}/idp`;
  }

  get metadataUrl(): string {
    return `${this.origin}/metadata`;
  }

  metadata(over: { entityId?: string; keys?: readonly TestKey[] } = {}): string {
    const keys = (over.keys ?? [this.key, ...this.others]).map(
      ({ certificate }) => markup`<md:KeyDescriptor use="signing">${keyInfo(certificate)}</md:KeyDescriptor>`,
    );
    return markup`<md:EntityDescriptor xmlns:md="${ns.metadata}" entityID="${over.entityId ?? this.entityId}"><md:IDPSSODescriptor protocolSupportEnumeration="${ns.protocol}">${keys}<md:SingleSignOnService Binding="${bindings.redirect}" Location="${this.origin}/sso?tenant=1"/></md:IDPSSODescriptor></md:EntityDescriptor>`
      .xml;
  }

  /** The person agrees: the form that goes to the ACS. */
  async agree(to: URL): Promise<SamlForm> {
    this.asked = readAuthnRequest(read(fromQuery(to.searchParams.get('SAMLRequest') ?? '')));
    const { asked, lies } = this;
    const at = this.now();
    const envelope: Envelope = {
      ...{ id: newId(), issuer: this.entityId, at, destination: asked.acsUrl ?? '', inResponseTo: asked.id },
      ...lies.envelope,
    };
    const assertion: NewAssertion = {
      ...{ id: newId(), nameId: { format: this.person.format, value: this.person.nameId } },
      ...{ audience: asked.issuer, authTime: at, contextClass: 'urn:oasis:names:tc:SAML:2.0:ac:classes:X509' },
      sessionIndex: newId(),
      attributes: Object.entries(this.person.attributes).map(([name, value]) => ({ name, values: [value] })),
      ...lies.assertion,
    };
    const key = lies.key ?? this.key;
    const made = lies.status
      ? await newErrorResponse(envelope, lies.status, key)
      : await newResponse(envelope, assertion, { signs: lies.signs ?? 'assertion', key, seal: lies.seal });
    const xml = lies.edit ? await lies.edit(made.xml) : made.xml;
    const RelayState = lies.relayState ?? to.searchParams.get('RelayState') ?? '';
    return { action: asked.acsUrl ?? '', fields: { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState } };
  }
}

function newId(): string {
  return `_${randomBytes(10).toString('hex')}`;
}
