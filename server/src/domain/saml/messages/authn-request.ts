import { bindings, ns, skewSeconds } from '../names.ts';
import { SamlError } from '../saml-error.ts';
import { attribute, child, children, type Element, required, text } from '../xml/element.ts';
import { type Markup, markup } from '../xml/write.ts';
import { instantOf, later, written } from './times.ts';

/** An `AuthnRequest` of a service provider (SAML Core section 3.4.1). */
export interface AuthnRequest {
  id: string;
  issuer: string;
  issueInstant: Date;
  destination: string | undefined;
  acsUrl: string | undefined;
  acsIndex: number | undefined;
  forceAuthn: boolean;
  isPassive: boolean;
  nameIdFormat: string | undefined;
  /** Context classes of `RequestedAuthnContext`, in the order of preference. */
  contextClasses: readonly string[];
  /** Of the `RequestedAuthnContext`. */
  comparison: 'exact' | 'minimum' | 'maximum' | 'better';
}

/** NCName, which `ID` must be, of a length that is stored. */
const idPattern = /^[A-Za-z_][\w.-]{0,127}$/;
const comparisons = ['exact', 'minimum', 'maximum', 'better'] as const;

export function messageId(message: Element): string {
  const id = attribute(message, 'ID') ?? '';
  if (!idPattern.test(id)) throw new SamlError('malformed', 'ID');
  if (attribute(message, 'Version') !== '2.0') throw new SamlError('wrong-message', 'Version');
  return id;
}

/** Reads an `AuthnRequest`. Its values are claims of the sender, until they are compared with the configuration. */
export function readAuthnRequest(message: Element): AuthnRequest {
  if (message.ns !== ns.protocol || message.name !== 'AuthnRequest') {
    throw new SamlError('wrong-message', 'not an AuthnRequest');
  }
  // A subject could name a user other than the one who signs in.
  if (child(message, ns.assertion, 'Subject')) throw new SamlError('wrong-message', 'Subject is not supported');
  const binding = attribute(message, 'ProtocolBinding');
  if (binding !== undefined && binding !== bindings.post) throw new SamlError('wrong-message', 'ProtocolBinding');
  const policy = child(message, ns.protocol, 'NameIDPolicy');
  const context = child(message, ns.protocol, 'RequestedAuthnContext');
  const index = attribute(message, 'AssertionConsumerServiceIndex');
  const acsUrl = attribute(message, 'AssertionConsumerServiceURL');
  if (index !== undefined && (acsUrl !== undefined || !/^\d{1,5}$/.test(index))) {
    throw new SamlError('malformed', 'AssertionConsumerServiceIndex');
  }
  return {
    id: messageId(message),
    issuer: issuerOf(message),
    issueInstant: instantOf(attribute(message, 'IssueInstant'), 'IssueInstant'),
    destination: attribute(message, 'Destination'),
    acsUrl,
    acsIndex: index === undefined ? undefined : Number(index),
    forceAuthn: isTrue(attribute(message, 'ForceAuthn')),
    isPassive: isTrue(attribute(message, 'IsPassive')),
    nameIdFormat: policy && attribute(policy, 'Format'),
    contextClasses: context ? children(context, ns.assertion, 'AuthnContextClassRef').map(text) : [],
    comparison: comparisons.find((one) => context && one === attribute(context, 'Comparison')) ?? 'exact',
  };
}

/** The entity ID of the sender. */
export function issuerOf(message: Element): string {
  const issuer = text(required(message, ns.assertion, 'Issuer'));
  if (issuer === '' || issuer.length > 1024) throw new SamlError('malformed', 'Issuer');
  return issuer;
}

/** Of a request. */
interface Timed {
  issueInstant: Date;
  notOnOrAfter?: Date | undefined;
  destination: string | undefined;
}

/** Refuses a message that has expired, was not issued within `maxAgeSeconds`, or is addressed to another endpoint. */
export function checkFresh(
  { issueInstant, notOnOrAfter, destination }: Timed,
  { now, endpoint, maxAgeSeconds }: { now: Date; endpoint: string; maxAgeSeconds: number },
): void {
  if (destination !== undefined && destination !== endpoint) throw new SamlError('destination-mismatch', 'Destination');
  if (issueInstant > later(now, skewSeconds)) throw new SamlError('not-yet-valid', 'IssueInstant');
  if (later(issueInstant, maxAgeSeconds + skewSeconds) <= now) throw new SamlError('expired', 'IssueInstant');
  if (notOnOrAfter && later(notOnOrAfter, skewSeconds) <= now) throw new SamlError('expired', 'NotOnOrAfter');
}

/** `xs:boolean`. */
export function isTrue(value: string | undefined): boolean {
  if (value === undefined || value === 'false' || value === '0') return false;
  if (value === 'true' || value === '1') return true;
  throw new SamlError('malformed', 'boolean');
}

export interface NewAuthnRequest {
  id: string;
  issuer: string;
  at: Date;
  destination: string;
  acsUrl: string;
  forceAuthn?: boolean;
  nameIdFormat?: string | undefined;
}

/** The request of our service provider. */
export function newAuthnRequest(asked: NewAuthnRequest): Markup {
  const { id, issuer, at, destination, acsUrl, forceAuthn = false, nameIdFormat } = asked;
  const policy =
    nameIdFormat === undefined ? [] : [markup`<samlp:NameIDPolicy Format="${nameIdFormat}" AllowCreate="true"/>`];
  return markup`<samlp:AuthnRequest xmlns:samlp="${ns.protocol}" xmlns:saml="${ns.assertion}" ID="${id}" Version="2.0" IssueInstant="${written(at)}" Destination="${destination}" ForceAuthn="${String(forceAuthn)}" ProtocolBinding="${bindings.post}" AssertionConsumerServiceURL="${acsUrl}"><saml:Issuer>${issuer}</saml:Issuer>${policy}</samlp:AuthnRequest>`;
}
