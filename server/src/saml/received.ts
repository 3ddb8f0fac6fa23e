import type { KeyObject } from 'node:crypto';
import type { Request } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import { fromForm, fromQuery, isQuerySigned, relayStateOf } from '../domain/saml/bindings.ts';
import { SamlError } from '../domain/saml/saml-error.ts';
import { readCertificate } from '../domain/saml/security/certificate.ts';
import { isSigned, verified } from '../domain/saml/security/verify.ts';
import type { Element } from '../domain/saml/xml/element.ts';
import { read } from '../domain/saml/xml/reader.ts';
import { type Parameters, parametersOf, queryOf } from '../http/parameters.ts';

export type MessageName = 'SAMLRequest' | 'SAMLResponse';

/** A message of another party, of either binding. */
export interface Received {
  message: Element;
  relayState: string | undefined;
  /** The message, verified with the keys of the client; null: unsigned. Refuses an invalid signature. */
  signedBy(client: Client): Element | null;
}

/** Throws {@link SamlError} for a malformed message. */
export function receivedMessage(req: Request, name: MessageName): Received {
  const parameters = parametersOf(req);
  if (parameters.wrongContentType || parameters.faults.length > 0) throw new SamlError('malformed', 'parameters');
  const value = parameters.get(name);
  if (value === undefined) throw new SamlError('wrong-message', `no ${name}`);
  const isQuery = req.method !== 'POST';
  const message = read(isQuery ? fromQuery(value) : fromForm(value));
  return {
    message,
    relayState: relayStateOf(parameters.get('RelayState')),
    signedBy(client) {
      const keys = keysOf(client);
      if (!isQuery) return isSigned(message) ? verified(message, { keys }) : null;
      return isQuerySigned(queryOf(req), name, { keys }) ? message : null;
    },
  };
}

function keysOf({ samlCertificates }: Client): KeyObject[] {
  return samlCertificates.map((pem) => readCertificate(pem).key);
}

/**
 * True for a cross-site POST, which carries no cookies of ours (SameSite): a page of ours posts it again. A redirect could not: the
 * message may be too long for a query.
 */
export function isWithoutCookies(req: Request, parameters: Parameters): boolean {
  const hasOwn = /(?:^|; ?)(?:__Host-)?lk-/.test(req.get('cookie') ?? '');
  return req.method === 'POST' && !hasOwn && parameters.get(repeated) === undefined;
}

/** Field of the form that is posted again. */
export const repeated = 'repeated';
