import { bearer, ns, skewSeconds, statusCodes } from '../names.ts';
import { SamlError } from '../saml-error.ts';
import { isSigned, type Verification, verified } from '../security/verify.ts';
import { attribute, child, children, descendants, type Element, required, text } from '../xml/element.ts';
import { messageId } from './authn-request.ts';
import type { SamlAttribute } from './response.ts';
import { instantOf, later } from './times.ts';

/** What a connection expects of an answer. */
export interface Expected extends Verification {
  /** Entity ID of the identity provider. */
  issuer: string;
  /** Our entity ID. */
  audience: string;
  /** Our ACS. */
  recipient: string;
  /** ID of our request; null: the answer is IdP-initiated, and must not name a request. */
  requestId: string | null;
  now: Date;
  wantsAssertionSigned?: boolean;
  wantsResponseSigned?: boolean;
  /** Reads an `EncryptedAssertion`; absent: refused. */
  decrypt?: ((encrypted: Element) => Element) | undefined;
}

/** The verified assertion of an identity provider about a user. */
export interface Answer {
  /** Accept it once, until `acceptableUntil`. */
  assertionId: string;
  acceptableUntil: Date;
  subject: { format: string; value: string };
  authTime: Date;
  contextClass: string | undefined;
  sessionIndex: string | undefined;
  sessionUntil: Date | undefined;
  attributes: readonly SamlAttribute[];
}

/** A URI. */
const formatPattern = /^[\x21-\x7e]{1,255}$/;
const unspecified = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
/** Maximum validity of an assertion: its ID is stored for that long, against replay. */
const maxValiditySeconds = 24 * 3600;

/**
 * Reads a `Response` (SAML Profiles section 4.1.4.3). Its values come from the bytes that a key of `expected` signed, alone.
 *
 * @param received the whole document
 */
export function readAnswer(received: Element, expected: Expected): Answer {
  if (received.ns !== ns.protocol || received.name !== 'Response') {
    throw new SamlError('wrong-message', 'not a Response');
  }
  const isWhole = isSigned(received);
  if (expected.wantsResponseSigned && !isWhole) throw new SamlError('unsigned', 'Response');
  const response = isWhole ? verified(received, expected) : received;
  checkEnvelope(response, isWhole, expected);
  return readAssertion(assertionOf(response, isWhole, expected), expected);
}

function checkEnvelope(response: Element, isWhole: boolean, { issuer, recipient, requestId }: Expected): void {
  messageId(response);
  const from = child(response, ns.assertion, 'Issuer');
  if (from && text(from) !== issuer) throw new SamlError('issuer-mismatch', 'Issuer of the Response');
  const destination = attribute(response, 'Destination');
  // SAML Bindings section 3.5.5.2: a signed message must have it.
  if (destination !== recipient && (isWhole || destination !== undefined)) {
    throw new SamlError('destination-mismatch', 'Destination');
  }
  checkRequest(attribute(response, 'InResponseTo'), requestId, 'Response');
  const status = required(required(response, ns.protocol, 'Status'), ns.protocol, 'StatusCode');
  if (attribute(status, 'Value') === statusCodes.success) return;
  const detail = child(status, ns.protocol, 'StatusCode') ?? status;
  throw new SamlError('status-not-success', (attribute(detail, 'Value') ?? '').split(':').at(-1) ?? '');
}

function checkRequest(named: string | undefined, requestId: string | null, what: string): void {
  if (named !== (requestId ?? undefined)) throw new SamlError('request-mismatch', `InResponseTo of the ${what}`);
}

/** The only assertion of the document, from its signed bytes. */
function assertionOf(response: Element, isWhole: boolean, expected: Expected): Element {
  const all = ['Assertion', 'EncryptedAssertion'].flatMap((name) => descendants(response, ns.assertion, name));
  const plain = children(response, ns.assertion, 'Assertion');
  const encrypted = children(response, ns.assertion, 'EncryptedAssertion');
  const [found, ...others] = [...plain, ...encrypted];
  if (!found || others.length > 0 || all.length !== 1) {
    throw new SamlError('not-one-assertion', `${all.length} assertions`);
  }
  const assertion = encrypted.length > 0 ? decrypted(found, expected) : found;
  if (isSigned(assertion)) return verified(assertion, expected);
  if (!isWhole || expected.wantsAssertionSigned) throw new SamlError('unsigned', 'Assertion');
  return assertion;
}

function decrypted(encrypted: Element, { decrypt }: Expected): Element {
  if (!decrypt) throw new SamlError('decryption-failed', 'EncryptedAssertion');
  const assertion = decrypt(encrypted);
  const nested = descendants(assertion, ns.assertion, 'EncryptedAssertion').length;
  const count = descendants(assertion, ns.assertion, 'Assertion').length;
  if (assertion.ns !== ns.assertion || assertion.name !== 'Assertion' || count !== 1 || nested > 0) {
    throw new SamlError('decryption-failed', 'EncryptedAssertion');
  }
  return assertion;
}

function readAssertion(assertion: Element, expected: Expected): Answer {
  const { issuer, now } = expected;
  const assertionId = messageId(assertion);
  if (text(required(assertion, ns.assertion, 'Issuer')) !== issuer) {
    throw new SamlError('issuer-mismatch', 'Issuer of the Assertion');
  }
  const subject = required(assertion, ns.assertion, 'Subject');
  const acceptableUntil = confirmedUntil(subject, expected);
  checkConditions(required(assertion, ns.assertion, 'Conditions'), expected);
  const [statement, another] = children(assertion, ns.assertion, 'AuthnStatement');
  if (!statement || another) throw new SamlError('malformed', 'AuthnStatement');
  const sessionEnd = attribute(statement, 'SessionNotOnOrAfter');
  const sessionUntil = sessionEnd === undefined ? undefined : instantOf(sessionEnd, 'SessionNotOnOrAfter');
  if (sessionUntil && later(sessionUntil, skewSeconds) <= now) throw new SamlError('expired', 'SessionNotOnOrAfter');
  const authTime = instantOf(attribute(statement, 'AuthnInstant'), 'AuthnInstant');
  if (authTime > later(now, skewSeconds)) throw new SamlError('not-yet-valid', 'AuthnInstant');
  const context = child(required(statement, ns.assertion, 'AuthnContext'), ns.assertion, 'AuthnContextClassRef');
  return {
    assertionId,
    acceptableUntil: later(acceptableUntil, skewSeconds),
    subject: nameIdOf(required(subject, ns.assertion, 'NameID')),
    authTime,
    contextClass: context && text(context),
    sessionIndex: attribute(statement, 'SessionIndex'),
    sessionUntil,
    attributes: children(assertion, ns.assertion, 'AttributeStatement').flatMap(attributesOf),
  };
}

/** Opaque: linked by connection, format and value. Both are part of an index. */
function nameIdOf(nameId: Element): Answer['subject'] {
  const value = text(nameId);
  const format = attribute(nameId, 'Format') ?? unspecified;
  const isUsable = value !== '' && value.length <= 255 && !/\p{Cc}/u.test(value) && formatPattern.test(format);
  if (!isUsable) throw new SamlError('subject-unusable', 'NameID');
  return { format, value };
}

/** The end of the only bearer confirmation. */
function confirmedUntil(subject: Element, { recipient, requestId, now }: Expected): Date {
  const [confirmation, another] = children(subject, ns.assertion, 'SubjectConfirmation');
  if (!confirmation || another || attribute(confirmation, 'Method') !== bearer) {
    throw new SamlError('subject-unusable', 'SubjectConfirmation');
  }
  const data = required(confirmation, ns.assertion, 'SubjectConfirmationData');
  if (attribute(data, 'Recipient') !== recipient) throw new SamlError('recipient-mismatch', 'Recipient');
  if (attribute(data, 'NotBefore') !== undefined) throw new SamlError('malformed', 'NotBefore of the confirmation');
  checkRequest(attribute(data, 'InResponseTo'), requestId, 'SubjectConfirmation');
  return end(data, now, 'SubjectConfirmationData');
}

function checkConditions(conditions: Element, { audience, now }: Expected): void {
  const from = attribute(conditions, 'NotBefore');
  if (from !== undefined && instantOf(from, 'NotBefore') > later(now, skewSeconds)) {
    throw new SamlError('not-yet-valid', 'Conditions');
  }
  if (attribute(conditions, 'NotOnOrAfter') !== undefined) end(conditions, now, 'Conditions');
  const restrictions = children(conditions, ns.assertion, 'AudienceRestriction');
  const isOurs = (restriction: Element) => children(restriction, ns.assertion, 'Audience').map(text).includes(audience);
  // SAML Core section 2.5.1.4: each of them must name us.
  if (restrictions.length === 0 || !restrictions.every(isOurs)) throw new SamlError('audience-mismatch', 'Audience');
}

function end(element: Element, now: Date, what: string): Date {
  const until = instantOf(attribute(element, 'NotOnOrAfter'), `NotOnOrAfter of ${what}`);
  if (later(until, skewSeconds) <= now) throw new SamlError('expired', what);
  if (until > later(now, maxValiditySeconds)) throw new SamlError('not-yet-valid', `${what} ends too late`);
  return until;
}

function attributesOf(statement: Element): SamlAttribute[] {
  return children(statement, ns.assertion, 'Attribute').map((one) => ({
    name: attribute(one, 'Name') ?? '',
    values: children(one, ns.assertion, 'AttributeValue').map(text),
  }));
}
