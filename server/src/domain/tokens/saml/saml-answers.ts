import type { Client } from '../../clients/client.entity.ts';
import type { NameIdKind } from '../../clients/saml/saml.resource.ts';
import type { Actor } from '../../kernel/actor.ts';
import { type Clock, secondsLater } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import { digest } from '../../kernel/secret.ts';
import type { SamlKeys } from '../../keys/saml-keys.ts';
import { metAcr } from '../../policy/acr.ts';
import type { Issuer } from '../../projects/issuer.ts';
import { newResponse, type SamlAttribute } from '../../saml/messages/response.ts';
import { contextClasses } from '../../saml/names.ts';
import { readCertificate } from '../../saml/security/certificate.ts';
import { encrypt } from '../../saml/security/encryption.ts';
import type { Markup } from '../../saml/xml/write.ts';
import type { Grant, GrantRow } from '../mint.ts';
import type { Tokens } from '../tokens.ts';
import type { SamlNameIds } from './saml-name-ids.ts';

/** Values of a SAML request that its response depends on; stored as the `nonce` of the authorization request. */
export interface SamlAsked {
  /** ID of the request; absent: the sign-in began here. */
  id?: string | undefined;
  nameId: NameIdKind;
  /** The requested context class that every sign-in meets. */
  contextClass?: string | undefined;
}

/** A request is answered once: its ID is remembered for longer than it could be accepted and answered. */
const rememberSeconds = 3600;

/** The user has no value for the NameID. */
class NoNameIdError extends Error {}

interface SamlAnswersDeps {
  clock: Clock;
  random: Random;
  tokens: Pick<Tokens, 'redeem'>;
  samlKeys: Pick<SamlKeys, 'signing'>;
  samlNameIds: Pick<SamlNameIds, 'of' | 'claims'>;
}

/** SAML responses. A sign-in for a SAML application ends with an authorization code, which is redeemed here. */
export class SamlAnswers {
  constructor(private readonly deps: SamlAnswersDeps) {}

  /**
   * A signed response for the sign-in of a code (SAML Profiles section 4.1.4.2): the same checks, participation and event as for a
   * token response. Null if the client has changed meanwhile; `no-name-id` if the user has no value for it. Refuses
   * `grant-rejected`, and `client-rejected` if the request was answered before.
   *
   * @param acsUrl that of the code
   */
  async answer({ client, issuer, code, acsUrl, asked, actor }: Asked): Promise<{ xml: string } | 'no-name-id' | null> {
    const redeemed = {
      client,
      issuer,
      code,
      redirectUri: acsUrl,
      codeVerifier: undefined,
      authenticatedBy: 'none',
      samlNameId: asked.nameId,
      actor,
    } as const;
    const assertion = asked.id === undefined ? undefined : this.used(asked.id);
    try {
      return await this.deps.tokens.redeem({ ...redeemed, assertion }, (grant) =>
        this.response(grant, { issuer, acsUrl, asked }),
      );
    } catch (error) {
      if (error instanceof NoNameIdError) return 'no-name-id';
      throw error;
    }
  }

  /** Recorded with the answer, as a client assertion is with its tokens. */
  private used(requestId: string) {
    const forgetAt = secondsLater(this.deps.clock.now(), rememberSeconds);
    return { jtiHash: digest(`saml:${requestId}`), keyHash: null, forgetAt };
  }

  private async response(
    { client, row }: Grant,
    { issuer, acsUrl, asked }: Pick<Asked, 'issuer' | 'acsUrl' | 'asked'>,
  ) {
    const { clock, random, samlKeys, samlNameIds } = this.deps;
    const key = await samlKeys.signing(client.project.id);
    const { user_id: userId, session_id: sessionId, sub, email } = row;
    const nameId = await samlNameIds.of(asked.nameId, client, { userId, sessionId, sub, email });
    if (nameId === null) throw new NoNameIdError();
    const at = clock.now();
    const response = await newResponse(
      { id: samlId(random), issuer: entityIdOf(issuer), at, destination: acsUrl, inResponseTo: asked.id },
      {
        id: samlId(random),
        nameId,
        audience: client.samlEntityId ?? '',
        authTime: new Date(row.auth_time),
        contextClass: contextOf(row, asked),
        sessionIndex: row.session_id === null ? samlId(random) : sessionIndexOf(row.session_id),
        attributes: attributesOf(await samlNameIds.claims(client, userId)),
      },
      { signs: client.samlSigned, key, seal: this.sealFor(client) },
    );
    return { xml: response.xml };
  }

  private sealFor({ samlEncryptionCertificate: pem }: Client): ((assertion: Markup) => Markup) | undefined {
    if (pem == null) return undefined;
    const { key } = readCertificate(pem);
    const { random } = this.deps;
    return (assertion) => encrypt(assertion, key, random.bytes(32), random.bytes(12));
  }
}

function attributesOf(claims: Record<string, unknown>): SamlAttribute[] {
  return Object.entries(claims).flatMap(([name, value]) => {
    const values = [value]
      .flat()
      .filter((one) => one !== null && typeof one !== 'object')
      .map(String);
    return values.length === 0 ? [] : [{ name, values }];
  });
}

interface Asked {
  client: Client;
  issuer: Issuer;
  code: string;
  acsUrl: string;
  asked: SamlAsked;
  actor: Actor;
}

/** Our entity ID, and the address of our metadata. */
export function entityIdOf({ url }: Pick<Issuer, 'url'>): string {
  return `${url}/saml/metadata`;
}

/** `ID` of a message: NCName with 160 bits (SAML Core section 1.3.4). */
export function samlId(random: Random): string {
  return `_${Buffer.from(random.bytes(20)).toString('hex')}`;
}

/** Not the id alone, which may begin with a digit: some products want an NCName. */
export function sessionIndexOf(sessionId: string): string {
  return `_${sessionId}`;
}

/** The requested class; without one, REFEDS MFA for a passkey with PIN or biometrics. */
function contextOf({ amr }: GrantRow, { contextClass }: SamlAsked): string {
  if (contextClass !== undefined) return contextClass;
  return metAcr(['phr'], amr) === null ? contextClasses.unspecified : contextClasses.multiFactor;
}
