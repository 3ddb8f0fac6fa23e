import { ns, type StatusName, statusCodes } from '../names.ts';
import { SamlError } from '../saml-error.ts';
import { attribute, child, children, type Element, required, text } from '../xml/element.ts';
import { type Markup, markup } from '../xml/write.ts';
import { issuerOf, messageId } from './authn-request.ts';
import { statusOf } from './response.ts';
import { instantOf, written } from './times.ts';

/** A `LogoutRequest` (SAML Core section 3.7.1). */
export interface LogoutRequest {
  id: string;
  issuer: string;
  issueInstant: Date;
  notOnOrAfter: Date | undefined;
  destination: string | undefined;
  nameId: { format: string | undefined; value: string };
  sessionIndexes: readonly string[];
}

export function readLogoutRequest(message: Element): LogoutRequest {
  if (message.ns !== ns.protocol || message.name !== 'LogoutRequest') {
    throw new SamlError('wrong-message', 'not a LogoutRequest');
  }
  const nameId = required(message, ns.assertion, 'NameID');
  const end = attribute(message, 'NotOnOrAfter');
  return {
    id: messageId(message),
    issuer: issuerOf(message),
    issueInstant: instantOf(attribute(message, 'IssueInstant'), 'IssueInstant'),
    notOnOrAfter: end === undefined ? undefined : instantOf(end, 'NotOnOrAfter'),
    destination: attribute(message, 'Destination'),
    nameId: { format: attribute(nameId, 'Format'), value: text(nameId) },
    sessionIndexes: children(message, ns.protocol, 'SessionIndex').map(text),
  };
}

interface Envelope {
  id: string;
  issuer: string;
  at: Date;
  destination: string;
}

interface AskedLogout {
  nameId: { format: string; value: string };
  /** None: all sessions of the user. */
  sessionIndexes: readonly string[];
  notOnOrAfter?: Date;
}

export function newLogoutRequest(
  { id, issuer, at, destination }: Envelope,
  { nameId, sessionIndexes, notOnOrAfter }: AskedLogout,
): Markup {
  const end = notOnOrAfter === undefined ? [] : [markup` NotOnOrAfter="${written(notOnOrAfter)}"`];
  const indexes = sessionIndexes.map((one) => markup`<samlp:SessionIndex>${one}</samlp:SessionIndex>`);
  return markup`<samlp:LogoutRequest xmlns:samlp="${ns.protocol}" xmlns:saml="${ns.assertion}" ID="${id}" Version="2.0" IssueInstant="${written(at)}" Destination="${destination}"${end}><saml:Issuer>${issuer}</saml:Issuer><saml:NameID Format="${nameId.format}">${nameId.value}</saml:NameID>${indexes}</samlp:LogoutRequest>`;
}

/** @param detail absent: success. `partialLogout`: other participants may still have a session */
export function newLogoutResponse(
  { id, issuer, at, destination, inResponseTo }: Envelope & { inResponseTo: string },
  detail?: StatusName,
): Markup {
  return markup`<samlp:LogoutResponse xmlns:samlp="${ns.protocol}" xmlns:saml="${ns.assertion}" ID="${id}" Version="2.0" IssueInstant="${written(at)}" Destination="${destination}" InResponseTo="${inResponseTo}"><saml:Issuer>${issuer}</saml:Issuer>${statusOf(detail === undefined ? 'success' : 'responder', detail)}</samlp:LogoutResponse>`;
}

/** A `LogoutResponse` (SAML Core section 3.7.2). */
export interface LogoutResponse {
  issuer: string;
  issueInstant: Date;
  destination: string | undefined;
  /** ID of the request that it answers. */
  inResponseTo: string | undefined;
  isSuccess: boolean;
  /** The last part of each status code, such as `Responder RequestDenied`. */
  status: string;
}

export function readLogoutResponse(message: Element): LogoutResponse {
  if (message.ns !== ns.protocol || message.name !== 'LogoutResponse') {
    throw new SamlError('wrong-message', 'not a LogoutResponse');
  }
  const status = child(required(message, ns.protocol, 'Status'), ns.protocol, 'StatusCode');
  const detail = status && child(status, ns.protocol, 'StatusCode');
  const codes = [status, detail].flatMap((one) => (one ? [attribute(one, 'Value') ?? ''] : []));
  messageId(message);
  return {
    issuer: issuerOf(message),
    issueInstant: instantOf(attribute(message, 'IssueInstant'), 'IssueInstant'),
    destination: attribute(message, 'Destination'),
    inResponseTo: attribute(message, 'InResponseTo'),
    isSuccess: codes[0] === statusCodes.success,
    status: codes.map((code) => code.slice(code.lastIndexOf(':') + 1)).join(' '),
  };
}
