/** URIs of SAML 2.0 and of XML Signature and Encryption. */
export const ns = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  soap: 'http://schemas.xmlsoap.org/soap/envelope/',
} as const;

export const bindings = {
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
  soap: 'urn:oasis:names:tc:SAML:2.0:bindings:SOAP',
} as const;

export const envelopedSignature = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

/** SAML Core section 8.3. */
export const nameIdFormats = {
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
} as const;

export const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** SAML Core section 3.2.2.2. */
const status = 'urn:oasis:names:tc:SAML:2.0:status:';
export const statusCodes = {
  success: `${status}Success`,
  requester: `${status}Requester`,
  responder: `${status}Responder`,
  authnFailed: `${status}AuthnFailed`,
  invalidNameIdPolicy: `${status}InvalidNameIDPolicy`,
  noAuthnContext: `${status}NoAuthnContext`,
  noPassive: `${status}NoPassive`,
  requestDenied: `${status}RequestDenied`,
  partialLogout: `${status}PartialLogout`,
} as const;
export type StatusName = keyof typeof statusCodes;

/** Allowed clock skew, in seconds. */
export const skewSeconds = 60;

const context = 'urn:oasis:names:tc:SAML:2.0:ac:classes:';
export const contextClasses = {
  unspecified: `${context}unspecified`,
  /** REFEDS MFA Profile. */
  multiFactor: 'https://refeds.org/profile/mfa',
} as const;

/** Context classes that every sign-in meets, being stronger than a password. */
export const ordinaryClasses: readonly string[] = [
  ...['unspecified', 'Password', 'PasswordProtectedTransport', 'Preauthenticated', 'PreviousSession', 'X509'],
  ...['PublicKey', 'SoftwarePKI', 'TLSClient', 'Unregistered', 'Federated'],
].map((name) => `${context}${name}`);
