import type { Client } from '../clients/client.entity.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import type { SamlKeys } from '../keys/saml-keys.ts';
import type { Vault } from '../keys/vault.ts';
import { type LogoutResponse, newLogoutRequest, readLogoutResponse } from '../saml/messages/logout.ts';
import { SamlError } from '../saml/saml-error.ts';
import { readCertificate } from '../saml/security/certificate.ts';
import { signed } from '../saml/security/sign.ts';
import { isSigned, verified } from '../saml/security/verify.ts';
import { fromEnvelope, inEnvelope } from '../saml/soap.ts';
import { entityIdOf, samlId, sessionIndexOf } from '../tokens/saml/saml-answers.ts';
import type { NameId } from '../tokens/saml/saml-name-ids.ts';
import type { DeliveryOutcome } from './attempts.ts';
import type { LogoutDelivery } from './logout-delivery.entity.ts';

/** Posts a SOAP envelope; never throws. Takes at most 5 seconds. The body has at most 64 KB. */
export type PostSoap = (
  uri: string,
  envelope: string,
) => Promise<{ status: number; body: Uint8Array } | { error: string }>;

/** Purpose of the sealed NameID of a delivery. */
export const nameIdPurpose = 'logout-name-id';
/** A request is accepted this long. */
const requestSeconds = 120;

interface Deps {
  clock: Clock;
  random: Random;
  vault: Pick<Vault, 'open'>;
  samlKeys: Pick<SamlKeys, 'signing'>;
  post: PostSoap;
}

/** Logout requests to SAML applications over SOAP (SAML Profiles section 4.4, Bindings section 3.2). */
export class SamlLogoutRequests {
  constructor(private readonly deps: Deps) {}

  /** One attempt, with a new ID: receivers refuse one that they have seen. Never throws for what the application answers. */
  async send(delivery: LogoutDelivery): Promise<DeliveryOutcome> {
    const { clock, post, random, samlKeys, vault } = this.deps;
    const { id, issuer, sealedNameId, sid, uri } = delivery;
    const client = delivery.client.getEntity();
    if (sealedNameId == null || issuer == null) return { error: 'no NameID', isFinal: true };
    const nameId = JSON.parse(vault.open(nameIdPurpose, id, sealedNameId).toString()) as NameId;
    const at = clock.now();
    const requestId = samlId(random);
    const envelope = { id: requestId, issuer: entityIdOf({ url: issuer }), at, destination: uri };
    const sessionIndexes = sid == null ? [] : [sessionIndexOf(sid)];
    const notOnOrAfter = secondsLater(at, requestSeconds);
    const request = newLogoutRequest(envelope, { nameId, sessionIndexes, notOnOrAfter });
    const key = await samlKeys.signing(delivery.project.id);
    const answer = await post(uri, inEnvelope(await signed(request, key)).xml);
    if ('error' in answer) return answer;
    // Also not the status 400 of a logout token: it says nothing about the session.
    if (answer.status !== 200) return { error: `status ${answer.status}` };
    try {
      return outcomeOf(responseIn(answer.body, client), client, requestId);
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      return { error: `malformed response: ${error.message}` };
    }
  }
}

/** The connection authenticates the response (SAML Profiles section 4.4.4.2); a signature must be valid all the same. */
function responseIn(body: Uint8Array, { samlCertificates }: Client): LogoutResponse {
  const message = fromEnvelope(body);
  const keys = samlCertificates.map((pem) => readCertificate(pem).key);
  return readLogoutResponse(isSigned(message) ? verified(message, { keys }) : message);
}

/** An application that has no session of this user has nothing to end. */
function outcomeOf(response: LogoutResponse, { samlEntityId }: Client, requestId: string): DeliveryOutcome {
  const { inResponseTo, isSuccess, issuer, status } = response;
  if (issuer !== samlEntityId) return { error: 'the response is of another issuer' };
  if (inResponseTo !== requestId) return { error: 'the response is to another request' };
  if (isSuccess || status.endsWith(' UnknownPrincipal')) return { status: 200 };
  return { error: `SAML status ${status}`, isFinal: true };
}
