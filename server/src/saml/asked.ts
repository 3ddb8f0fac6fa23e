import type { Client } from '../domain/clients/client.entity.ts';
import type { NameIdKind } from '../domain/clients/saml/saml.resource.ts';
import type { AcrRequest } from '../domain/policy/acr.ts';
import { defaultAcr } from '../domain/policy/acr.ts';
import type { AuthnRequest } from '../domain/saml/messages/authn-request.ts';
import { contextClasses, nameIdFormats, ordinaryClasses, type StatusName } from '../domain/saml/names.ts';
import type { SamlAsked } from '../domain/tokens/saml/saml-answers.ts';

/** A refusal that goes to the registered ACS URL. */
export interface StatusRefusal {
  client: Client;
  acsUrl: string;
  asked: SamlAsked;
  relayState: string | undefined;
  refused: { code: 'requester' | 'responder'; detail: StatusName; message: string };
}

export function isRefusal(value: object): value is StatusRefusal {
  return 'refused' in value;
}

/** The NameID for the requested format; null: not supported. */
export function nameIdOf(format: string | undefined, { samlNameId }: Pick<Client, 'samlNameId'>): NameIdKind | null {
  if (format === undefined || format === nameIdFormats.unspecified) return samlNameId;
  // The only persistent one that the application may know.
  if (format === nameIdFormats.persistent && samlNameId === 'pairwise') return samlNameId;
  const kinds = ['persistent', 'email', 'transient'] as const;
  return kinds.find((kind) => nameIdFormats[kind] === format) ?? null;
}

/**
 * The acr that a `RequestedAuthnContext` asks for, and the first requested class that every sign-in meets. Null: no requested
 * class is known.
 */
export function acrOf({ contextClasses: classes, comparison }: Pick<AuthnRequest, 'contextClasses' | 'comparison'>): {
  acr: AcrRequest | undefined;
  ordinary?: string | undefined;
} | null {
  if (classes.length === 0) return { acr: undefined };
  const ordinary = classes.find((one) => ordinaryClasses.includes(one));
  // Every sign-in is stronger than a password, and so meets `minimum` and `better`.
  if (ordinary !== undefined && comparison !== 'maximum') return { acr: undefined, ordinary };
  const values = classes.flatMap((one) => (one === contextClasses.multiFactor || one === 'phr' ? ['phr'] : []));
  if (classes.includes(defaultAcr)) values.push(defaultAcr);
  return values.length === 0 || comparison === 'maximum' ? null : { acr: { values, essential: true } };
}

/** Stored as the `nonce` of the authorization request. */
export function packed(asked: SamlAsked): string {
  return JSON.stringify(asked);
}

/** Null for requests of OpenID Connect. */
export function unpacked(nonce: string | null | undefined): SamlAsked | null {
  if (nonce == null) return null;
  try {
    const value = JSON.parse(nonce) as SamlAsked | null;
    return value !== null && typeof value === 'object' && 'nameId' in value ? value : null;
  } catch {
    return null;
  }
}
