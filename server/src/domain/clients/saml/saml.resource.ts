import { refuse } from '../../kernel/problem.ts';
import { choice, flag, text, texts } from '../../kernel/resource.ts';
import { SamlError } from '../../saml/saml-error.ts';
import { readCertificate } from '../../saml/security/certificate.ts';
import { fetchedUri } from '../logout-uri.ts';
import { checkRedirectUri } from '../redirect-uri.ts';

const nameIds = ['persistent', 'pairwise', 'email', 'transient', 'attribute'] as const;
/** See `samlNameId`. */
export type NameIdKind = (typeof nameIds)[number];
const signedParts = ['both', 'assertion', 'response'] as const;
/** Why metadata that was read again is not applied. */
export const metadataFaults = ['unreachable', 'invalid', 'entity-id', 'certificates'] as const;
export type MetadataFault = (typeof metadataFaults)[number];
const maxCertificates = 5;

/** Settings of SAML applications, part of `clientFields`: a client with an entity ID is one (decisions/0390). */
export const samlFields = {
  samlEntityId: text({
    ...{ default: null, clearable: true, check: name, sensitive: true },
    says: 'Entity ID of a SAML application. Absent: the application uses OpenID Connect.',
    input:
      'Entity ID: makes the client a SAML application, with its ACS URLs in `redirectUris`, the default first. Cannot be added or removed later.',
  }),
  samlMetadataUrl: text({
    ...{ default: null, clearable: true, check: fetchedUri, sensitive: true },
    says: 'The address of its metadata, which is read daily for new certificates.',
    input: 'The https address of its metadata. It is read daily, for new certificates only.',
  }),
  samlNameId: choice(
    { name: 'SamlNameId', says: 'The NameID of users at a SAML application.', values: nameIds },
    {
      ...{ default: 'persistent', sensitive: true },
      says: 'The NameID, if its requests name no format.',
      input:
        'The NameID, if its requests name no format. Default: PERSISTENT, the `sub` of the user. PAIRWISE: a value of this application alone.',
    },
  ),
  samlNameIdAttribute: text({
    ...{ default: null, clearable: true, check: name, sensitive: true },
    says: 'The claim that is the NameID of kind ATTRIBUTE.',
    input: 'The claim that is the NameID of kind ATTRIBUTE, such as `preferred_username`. Must identify one user.',
  }),
  samlSigned: choice(
    { name: 'SamlSigned', says: 'The signed parts of a SAML response.', values: signedParts },
    { default: 'both', sensitive: false, input: 'Default: BOTH.' },
  ),
  samlCertificates: texts({
    ...{ default: [], check: certificates, sensitive: true },
    says: 'Certificates of its signed requests (PEM).',
    input: 'Certificates of its signed requests (PEM or base64), at most 5. Logout requests need one.',
  }),
  samlEncryptionCertificate: text({
    ...{
      default: null,
      clearable: true,
      check: (pem: string, field: string) => encryptionCertificate(pem, field),
      sensitive: true,
    },
    says: 'Certificate that assertions are encrypted for (PEM).',
    input: 'Certificate with an RSA key that assertions are encrypted for (PEM or base64). Absent: not encrypted.',
  }),
  samlLogoutUri: text({
    ...{ default: null, clearable: true, check: address, sensitive: true },
    says: 'Its SingleLogoutService (HTTP-Redirect).',
    input: 'Its SingleLogoutService (HTTP-Redirect), where logout requests and responses go. Needs a certificate.',
  }),
  samlLogoutResponseUri: text({
    ...{ default: null, clearable: true, check: address, sensitive: true },
    says: 'Where logout responses go, if not to `samlLogoutUri`.',
    input: 'The ResponseLocation of its SingleLogoutService, where logout responses go. Absent: `samlLogoutUri`.',
  }),
  samlLogoutSoapUri: text({
    ...{ default: null, clearable: true, check: fetchedUri, sensitive: true },
    says: 'Its SingleLogoutService (SOAP).',
    input:
      'Its SingleLogoutService (SOAP): logout requests are posted there by this server, and not by the browser to `samlLogoutUri`.',
  }),
  samlRequestsSigned: flag({
    ...{ default: false, sensitive: true, input: 'Default: false.' },
    says: 'Whether requests without a signature are refused.',
    control: {
      section: 'saml',
      label: {
        en: 'Require signed requests',
        de: 'Signierte Anfragen verlangen',
        es: 'Exigir solicitudes firmadas',
        fr: 'Exiger des requêtes signées',
        ja: '署名付きリクエストを必須にする',
      },
      help: {
        en: 'Sign-in requests without a signature by one of its certificates are refused.',
        de: 'Anmeldeanfragen ohne Signatur eines seiner Zertifikate werden abgelehnt.',
        es: 'Se rechazan las solicitudes sin firma de uno de sus certificados.',
        fr: 'Les requêtes sans signature par un de ses certificats sont refusées.',
        ja: '証明書による署名のないサインイン要求は拒否されます。',
      },
    },
  }),
  samlIdpInitiated: flag({
    ...{ default: false, sensitive: true, input: 'Default: false.' },
    says: 'Whether IdP-initiated sign-ins are allowed.',
    control: {
      section: 'saml',
      label: {
        en: 'Allow IdP-initiated sign-in',
        de: 'IdP-initiierte Anmeldung erlauben',
        es: 'Permitir el inicio de sesión iniciado por el IdP',
        fr: 'Autoriser la connexion initiée par l’IdP',
        ja: 'IdP 起点のサインインを許可',
      },
      help: {
        en: 'Sign-ins can begin at the start address of this server, without a request of the application.',
        de: 'Anmeldungen können an der Startadresse dieses Servers beginnen, ohne Anfrage der Anwendung.',
        es: 'El inicio de sesión puede empezar en la dirección de inicio de este servidor, sin solicitud de la aplicación.',
        fr: 'Une connexion peut commencer à l’adresse de départ de ce serveur, sans requête de l’application.',
        ja: 'アプリケーションの要求なしに、このサーバーの開始アドレスからサインインを始められます。',
      },
    },
  }),
};

/** SAML Core section 8.3.6: a URI of at most 1,024 characters. Many products use names that are not URIs. */
function name(value: string, field: string): string {
  const isWritable = /^[\x21-\x7e]{1,1024}$/.test(value);
  return isWritable
    ? value
    : refuse({ code: 'invalid', field, reason: 'must be 1 to 1,024 characters of ASCII without spaces' });
}

/** As PEM. */
function certificate(value: string, field: string) {
  try {
    return readCertificate(value);
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    const reason = error.reason === 'algorithm-refused' ? error.detail : 'is no X.509 certificate';
    return refuse({ code: 'invalid', field, reason });
  }
}

function certificates(values: string[], field: string): string[] {
  if (values.length > maxCertificates) {
    refuse({ code: 'invalid', field, reason: `must contain at most ${maxCertificates} certificates` });
  }
  return [...new Set(values.map((value, index) => certificate(value, `${field}[${index}]`).pem))];
}

function encryptionCertificate(value: string, field: string): string {
  const { key, pem } = certificate(value, field);
  return key.asymmetricKeyType === 'rsa' ? pem : refuse({ code: 'invalid', field, reason: 'must have an RSA key' });
}

function address(uri: string, field: string): string {
  const reason = checkRedirectUri(uri);
  return reason === null ? uri : refuse({ code: 'invalid', field, reason });
}
