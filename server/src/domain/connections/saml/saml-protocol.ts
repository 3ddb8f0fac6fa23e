import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { SamlKeys } from '../../keys/saml-keys.ts';
import { fromForm, redirectTo } from '../../saml/bindings.ts';
import { type Answer, type Expected, readAnswer } from '../../saml/messages/answer.ts';
import { newAuthnRequest } from '../../saml/messages/authn-request.ts';
import { nameIdFormats } from '../../saml/names.ts';
import { SamlError, type SamlReason } from '../../saml/saml-error.ts';
import { readCertificate } from '../../saml/security/certificate.ts';
import { decrypt } from '../../saml/security/encryption.ts';
import type { Element } from '../../saml/xml/element.ts';
import { read } from '../../saml/xml/reader.ts';
import { entityIdOf } from '../addresses.ts';
import { type Connection, type RequestedNameId, type SamlSettings, settingsOf } from '../connection.entity.ts';
import type {
  PendingUpstream,
  ProviderAnswer,
  ReadAnswer,
  RequestSecrets,
  UpstreamFault,
  UpstreamProtocol,
  VerifiedAnswer,
  WantedSignIn,
} from '../upstream.ts';
import { groupsIn } from '../upstream-person.ts';
import { claimsOf, samlPersonOf } from './saml-person.ts';
import { samlReport } from './saml-report.ts';

/** SAML 2.0: Web Browser SSO as service provider, that begins here (SAML Profiles section 4.1). */
export class SamlProtocol implements UpstreamProtocol {
  constructor(
    private readonly deps: {
      clock: Clock;
      samlKeys: Pick<SamlKeys, 'decryption' | 'signing'>;
      /** The base issuer. */
      issuer: string;
    },
  ) {}

  /** The signed request. `RelayState` is our handle of it. */
  async address(connection: Connection, { nonce, state }: RequestSecrets, wanted: WantedSignIn) {
    const { nameId, ssoUrl } = settingsOf(connection, 'saml');
    const key = await this.deps.samlKeys.signing(connection.project.id);
    const { xml } = newAuthnRequest({
      id: requestIdOf(nonce),
      issuer: this.entityId(connection),
      at: this.deps.clock.now(),
      destination: ssoUrl,
      acsUrl: wanted.answerUrl,
      forceAuthn: wanted.asksPerson,
      nameIdFormat: formats[nameId],
    });
    return { url: await redirectTo(ssoUrl, { name: 'SAMLRequest', xml, relayState: state }, key) };
  }

  async read(
    { connection, request, secrets }: PendingUpstream,
    { parameters, answerUrl }: ProviderAnswer,
  ): Promise<ReadAnswer> {
    const settings = settingsOf(connection, 'saml');
    const keys = await this.deps.samlKeys.decryption(connection.project.id);
    const expected = {
      ...rulesOf(settings, this.deps.clock.now()),
      audience: this.entityId(connection),
      recipient: answerUrl,
      requestId: requestIdOf(secrets.nonce),
      decrypt: (encrypted: Element) => decryptedBy(keys, encrypted, settings.allowsCbc),
    };
    try {
      const response = read(fromForm(parameters.get('SAMLResponse') ?? ''));
      const answer = answerIn(response, expected, connection);
      return request.requestId === null ? { ...answer, report: samlReport({ response, expected, settings }) } : answer;
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      return { fault: faultOf(error) };
    }
  }

  private entityId(connection: Connection): string {
    return entityIdOf(connection, new URL(this.deps.issuer).origin);
  }
}

function answerIn(response: Element, expected: Expected, connection: Connection): ReadAnswer {
  try {
    const answer = readAnswer(response, expected);
    // The next sign-in has another one.
    if (answer.subject.format === nameIdFormats.transient) return { fault: 'subject' };
    return verifiedOf(answer, settingsOf(connection, 'saml'), connection);
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    return { fault: faultOf(error) };
  }
}

function verifiedOf(answer: Answer, settings: SamlSettings, { mappings, roleMappings }: Connection): VerifiedAnswer {
  const groups = answer.attributes.find(({ name }) => name === roleMappings?.claim)?.values;
  return {
    person: { ...samlPersonOf(answer, settings, mappings), ...groupsIn(groups) },
    claims: { NameID: answer.subject.value, 'NameID format': answer.subject.format, ...claimsOf(answer) },
    assertion: { id: answer.assertionId, until: answer.acceptableUntil },
  };
}

/** An NCName. */
function requestIdOf(nonce: string): string {
  return `_${nonce}`;
}

const formats: Readonly<Record<RequestedNameId, string | undefined>> = {
  persistent: nameIdFormats.persistent,
  email: nameIdFormats.email,
  any: undefined,
};

/** The keys of the connection that have not expired, and what must be signed by them. */
function rulesOf(
  { allowsSha1, certificates, entityId, signed }: SamlSettings,
  now: Date,
): Omit<Expected, 'audience' | 'recipient' | 'requestId'> {
  return {
    keys: certificates.map(readCertificate).flatMap(({ expiresAt, key }) => (expiresAt > now ? [key] : [])),
    allowsSha1,
    issuer: entityId,
    now,
    wantsAssertionSigned: signed === 'assertion' || signed === 'both',
    wantsResponseSigned: signed === 'response' || signed === 'both',
  };
}

/** By whichever key of ours it was encrypted to: the provider may have read our metadata before a rotation. */
function decryptedBy(keys: readonly KeyObject[], encrypted: Element, allowsCbc: boolean): Element {
  for (const key of keys) {
    try {
      return decrypt(encrypted, { key, allowsCbc });
    } catch {
      // The next key.
    }
  }
  throw new SamlError('decryption-failed', 'EncryptedAssertion');
}

const faults: Readonly<Record<Exclude<SamlReason, 'status-not-success'>, UpstreamFault>> = {
  'too-large': 'response',
  malformed: 'response',
  'forbidden-markup': 'response',
  'wrong-message': 'response',
  'not-one-assertion': 'response',
  unsigned: 'signature',
  'signature-invalid': 'signature',
  'algorithm-refused': 'signature',
  'decryption-failed': 'decryption',
  'issuer-mismatch': 'issuer',
  'audience-mismatch': 'audience',
  'destination-mismatch': 'recipient',
  'recipient-mismatch': 'recipient',
  'request-mismatch': 'nonce',
  'not-yet-valid': 'time',
  expired: 'time',
  'subject-unusable': 'subject',
};

/** Status codes of a person who left, or may not use this application. */
const endedByPerson: readonly string[] = ['AuthnFailed', 'RequestDenied'];

function faultOf({ detail, reason }: SamlError): UpstreamFault {
  if (reason === 'status-not-success') return endedByPerson.includes(detail) ? 'denied' : 'provider-error';
  return faults[reason];
}
