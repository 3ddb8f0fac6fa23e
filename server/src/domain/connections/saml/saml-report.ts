import type { Expected } from '../../saml/messages/answer.ts';
import { nameIdFormats, ns, statusCodes } from '../../saml/names.ts';
import { SamlError } from '../../saml/saml-error.ts';
import { readCertificate } from '../../saml/security/certificate.ts';
import { isSigned } from '../../saml/security/verify.ts';
import { attribute, children, descendants, type Element } from '../../saml/xml/element.ts';
import type { SamlSettings } from '../connection.entity.ts';
import { compared, type ReportLine, received } from '../report.ts';
import { claimsOf } from './saml-person.ts';

const maxAttributes = 100;

interface Read {
  response: Element;
  expected: Expected;
  settings: SamlSettings;
}

/** The checks of an answer by its values, whether it is signed or not, and then its attributes. */
export function samlReport({ response, expected, settings }: Read): ReportLine[] {
  if (response.ns !== ns.protocol || response.name !== 'Response') return [];
  const status = statusOf(response);
  const head = [
    compared('Status', status, 'Success', status === 'Success' ? {} : { field: 'nameId' }),
    compared('Issuer', textAt(response, 'Issuer'), settings.entityId, { field: 'metadata' }),
    compared('Destination', attribute(response, 'Destination'), expected.recipient, {
      field: 'acsUrl',
      // Only a signed response must have it.
      isWrong:
        attribute(response, 'Destination') !== expected.recipient &&
        (isSigned(response) || attribute(response, 'Destination') !== undefined),
    }),
    inResponseTo(response, expected),
  ];
  const found = assertionOf(response, expected);
  if (typeof found === 'string') {
    return [...head, compared('Assertion', found, 'one that we can read', { field: 'encryption' })];
  }
  return [
    ...head,
    ...signatureLines(response, found, settings, expected),
    ...assertionLines(found, expected, settings),
  ];
}

function assertionLines(assertion: Element, expected: Expected, settings: SamlSettings): ReportLine[] {
  const [confirmation] = descendants(assertion, ns.assertion, 'SubjectConfirmationData');
  const [conditions] = descendants(assertion, ns.assertion, 'Conditions');
  const audiences = descendants(assertion, ns.assertion, 'Audience').map(contentOf);
  const [nameId] = descendants(assertion, ns.assertion, 'NameID');
  const format = nameId && (attribute(nameId, 'Format') ?? nameIdFormats.unspecified);
  const value = nameId && contentOf(nameId);
  const attributes = descendants(assertion, ns.assertion, 'Attribute').map((one) => ({
    name: attribute(one, 'Name') ?? '',
    values: children(one, ns.assertion, 'AttributeValue').map(contentOf),
  }));
  const email = addressOf(claimsOf({ attributes }), value, format, settings);
  return [
    compared('Recipient', confirmation && attribute(confirmation, 'Recipient'), expected.recipient, {
      field: 'acsUrl',
    }),
    compared('Audience', audiences.join(', '), expected.audience, {
      field: 'entityId',
      isWrong: !audiences.includes(expected.audience),
    }),
    timeLine(conditions, confirmation, expected.now),
    compared('NameID', value, 'a text of 1 to 255 characters', { field: 'nameId', isWrong: !value }),
    compared('NameID format', format, 'the same at each sign-in, not transient', {
      field: 'nameId',
      isWrong: format === undefined || format === nameIdFormats.transient,
    }),
    compared(settings.emailAttribute ?? 'Mail address', email, 'an attribute with the mail address', {
      field: 'attributes',
      isWrong: email === undefined,
    }),
    ...attributes.slice(0, maxAttributes).map(({ name, values }) => received(name, values.join(', '))),
  ];
}

function addressOf(
  claims: Record<string, string>,
  nameId: string | undefined,
  format: string | undefined,
  { emailAttribute }: SamlSettings,
): string | undefined {
  if (emailAttribute !== null) return claims[emailAttribute];
  return claims['email'] ?? (format === nameIdFormats.email ? nameId : undefined);
}

function inResponseTo(response: Element, { requestId }: Expected): ReportLine {
  const named = attribute(response, 'InResponseTo');
  const expected = 'our request';
  if (named === undefined) return compared('InResponseTo', 'none: the sign-in began at the provider', expected);
  return compared('InResponseTo', named === requestId ? expected : named, expected);
}

/** What is signed, by which algorithm, and by which certificate. */
function signatureLines(
  response: Element,
  assertion: Element,
  { allowsSha1, certificates, signed }: SamlSettings,
  { now }: Expected,
): ReportLine[] {
  const signatureOf = (element: Element) => children(element, ns.signature, 'Signature');
  const [ofResponse, ofAssertion] = [signatureOf(response), signatureOf(assertion)];
  const parts = [...(ofResponse.length > 0 ? ['response'] : []), ...(ofAssertion.length > 0 ? ['assertion'] : [])];
  const wanted = { either: ['response or assertion'], assertion: ['assertion'], response: ['response'] };
  const missing =
    signed === 'either' ? parts.length === 0 : signed === 'both' ? parts.length < 2 : !parts.includes(signed);
  const all = [...ofResponse, ...ofAssertion];
  const algorithms = all.flatMap((one) =>
    descendants(one, ns.signature, 'SignatureMethod').map((method) => attribute(method, 'Algorithm') ?? ''),
  );
  const sent = new Set(
    all
      .flatMap((one) => descendants(one, ns.signature, 'X509Certificate'))
      .flatMap((one) => fingerprintOf(contentOf(one))),
  );
  const known = certificates.map(readCertificate);
  const valid = known.filter(({ expiresAt }) => expiresAt > now).map(({ fingerprint }) => fingerprint);
  const isWeak = algorithms.some((one) => one.endsWith('sha1'));
  const expected = signed === 'both' ? 'response and assertion' : wanted[signed].join();
  const certificate = compared('Certificate', [...sent].join(', '), valid.join(', ') || 'one that has not expired', {
    field: 'metadata',
    isWrong: valid.length === 0 || (sent.size > 0 && ![...sent].some((one) => valid.includes(one))),
  });
  return [
    compared('Signature of', parts.join(', '), expected, { field: 'signature', isWrong: missing }),
    compared('Signature algorithm', algorithms.join(', '), 'SHA-256 or stronger', {
      field: 'signature',
      isWrong: isWeak && !allowsSha1,
    }),
    certificate,
  ];
}

function fingerprintOf(source: string): string[] {
  try {
    return [readCertificate(source).fingerprint];
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    return [];
  }
}

function timeLine(conditions: Element | undefined, confirmation: Element | undefined, now: Date): ReportLine {
  const from = conditions && attribute(conditions, 'NotBefore');
  const until = confirmation && attribute(confirmation, 'NotOnOrAfter');
  const skew = 60_000;
  const isEarly = from !== undefined && Date.parse(from) > now.getTime() + skew;
  const isLate = until === undefined || !(Date.parse(until) > now.getTime() - skew);
  const expected = `containing ${now.toISOString()}, our clock`;
  return compared('Valid', `${from ?? 'any time'} to ${until ?? 'none'}`, expected, { isWrong: isEarly || isLate });
}

/** The first assertion, decrypted; else why there is none. */
function assertionOf(response: Element, { decrypt }: Expected): Element | string {
  const [plain] = descendants(response, ns.assertion, 'Assertion');
  if (plain) return plain;
  const [encrypted] = descendants(response, ns.assertion, 'EncryptedAssertion');
  if (!encrypted) return 'none';
  try {
    return decrypt?.(encrypted) ?? 'encrypted';
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    return 'encrypted, and not to a key of ours, or not with AES-GCM and RSA-OAEP';
  }
}

function statusOf(response: Element): string {
  const codes = descendants(response, ns.protocol, 'StatusCode').map((one) => attribute(one, 'Value') ?? '');
  if (codes[0] === statusCodes.success) return 'Success';
  const [message] = descendants(response, ns.protocol, 'StatusMessage');
  const names = codes.map((one) => one.split(':').at(-1) ?? '').join(', ');
  return message ? `${names}: ${contentOf(message)}` : names;
}

function textAt(parent: Element, name: string): string | undefined {
  const [found] = descendants(parent, ns.assertion, name);
  return found && contentOf(found);
}

/** The text of an element, whatever it contains. */
function contentOf(element: Element): string {
  return element.children
    .filter((one) => typeof one === 'string')
    .join('')
    .trim();
}
