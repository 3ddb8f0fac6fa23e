import { bearer, ns, type StatusName, statusCodes } from '../names.ts';
import { type SigningKey, signed } from '../security/sign.ts';
import { type Markup, markup } from '../xml/write.ts';
import { later, written } from './times.ts';

/** Attribute of an assertion. */
export interface SamlAttribute {
  name: string;
  values: readonly string[];
}

/** The facts of a sign-in, for one service provider. */
export interface NewAssertion {
  id: string;
  nameId: { format: string; value: string };
  audience: string;
  authTime: Date;
  contextClass: string;
  sessionIndex: string;
  attributes: readonly SamlAttribute[];
}

interface Envelope {
  id: string;
  issuer: string;
  at: Date;
  /** The registered ACS URL. */
  destination: string;
  /** The request's ID; absent: IdP-initiated. */
  inResponseTo: string | undefined;
}

export type Signs = 'assertion' | 'response' | 'both';

/** Seconds in which the service provider must accept the assertion. */
const assertionSeconds = 300;

/** A signed `Response` with one assertion (SAML Profiles section 4.1.4.2). */
export async function newResponse(
  envelope: Envelope,
  assertion: NewAssertion,
  { signs, key, seal }: { signs: Signs; key: SigningKey; seal?: ((assertion: Markup) => Markup) | undefined },
): Promise<Markup> {
  const plain = assertionOf(envelope, assertion);
  const content = signs === 'response' ? plain : await signed(plain, key);
  const response = enveloped(envelope, [statusOf('success'), seal ? seal(content) : content]);
  return signs === 'assertion' ? response : signed(response, key);
}

/** A signed `Response` without an assertion. */
export function newErrorResponse(
  envelope: Envelope,
  error: { code: 'requester' | 'responder'; detail: StatusName; message?: string },
  key: SigningKey,
): Promise<Markup> {
  return signed(enveloped(envelope, [statusOf(error.code, error.detail, error.message)]), key);
}

function enveloped({ id, issuer, at, destination, inResponseTo }: Envelope, content: readonly Markup[]): Markup {
  return markup`<samlp:Response xmlns:samlp="${ns.protocol}" xmlns:saml="${ns.assertion}" ID="${id}" Version="2.0" IssueInstant="${written(at)}" Destination="${destination}"${optional('InResponseTo', inResponseTo)}><saml:Issuer>${issuer}</saml:Issuer>${content}</samlp:Response>`;
}

export function statusOf(code: StatusName, detail?: StatusName, message?: string): Markup {
  const inner = detail === undefined ? [] : [markup`<samlp:StatusCode Value="${statusCodes[detail]}"/>`];
  const says = message === undefined ? [] : [markup`<samlp:StatusMessage>${message}</samlp:StatusMessage>`];
  return markup`<samlp:Status><samlp:StatusCode Value="${statusCodes[code]}">${inner}</samlp:StatusCode>${says}</samlp:Status>`;
}

function assertionOf({ issuer, at, destination, inResponseTo }: Envelope, asserted: NewAssertion): Markup {
  const { nameId, audience, authTime, contextClass, sessionIndex } = asserted;
  const until = written(later(at, assertionSeconds));
  return markup`<saml:Assertion xmlns:saml="${ns.assertion}" ID="${asserted.id}" Version="2.0" IssueInstant="${written(at)}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${nameId.format}">${nameId.value}</saml:NameID><saml:SubjectConfirmation Method="${bearer}"><saml:SubjectConfirmationData NotOnOrAfter="${until}" Recipient="${destination}"${optional('InResponseTo', inResponseTo)}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${written(at)}" NotOnOrAfter="${until}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${written(authTime)}" SessionIndex="${sessionIndex}"><saml:AuthnContext><saml:AuthnContextClassRef>${contextClass}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>${statementOf(asserted.attributes)}</saml:Assertion>`;
}

/** An `AttributeStatement` must not be empty. */
function statementOf(attributes: readonly SamlAttribute[]): readonly Markup[] {
  const written = attributes
    .filter(({ values }) => values.length > 0)
    .map(
      ({ name, values }) =>
        markup`<saml:Attribute Name="${name}" NameFormat="${formatOf(name)}">${values.map((value) => markup`<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">${value}</saml:AttributeValue>`)}</saml:Attribute>`,
    );
  return written.length === 0 ? [] : [markup`<saml:AttributeStatement>${written}</saml:AttributeStatement>`];
}

/** SAML Core section 8.2: names that are URIs, or plain. */
function formatOf(name: string): string {
  const kind = /^[a-z][a-z0-9+.-]*:/i.test(name) ? 'uri' : 'basic';
  return `urn:oasis:names:tc:SAML:2.0:attrname-format:${kind}`;
}

function optional(name: string, value: string | undefined): readonly Markup[] {
  return value === undefined ? [] : [markup` ${{ xml: name }}="${value}"`];
}
