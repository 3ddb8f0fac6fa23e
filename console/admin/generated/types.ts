// Written by npm run gen from the .graphql files beside the pages. Do not edit.
declare const types: unique symbol;

/** Query text, typed by its data and variables. */
export type Operation<Data, Variables> = string & { readonly [types]?: (variables: Variables) => Data };

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** `userIds`: 1 to 500 users of the project of the group. */
export type AddGroupMembersInput = {
  groupId: string;
  userIds: Array<string>;
};

export type AddOrganizationDomainInput = {
  /** The part of mail addresses after the @, such as example.com. Not of a public mail provider. */
  domain: string;
  organizationId: string;
};

export type AddOrganizationMemberInput = {
  organizationId: string;
  /** Default: the default roles of the organization. */
  roleKeys?: Array<string> | null | undefined;
  userId: string;
};

/** For the browser SDK, or for the server library. */
export type ApiKeyKind =
  | 'PUBLISHABLE'
  | 'SECRET';

export type ApiScopeInput = {
  /** One line, for admins and users. */
  description: string;
  /** The value in `scope`; letters, digits and _ . : / * -. */
  key: string;
};

export type AssignOrganizationRoleInput = {
  /** A group of the organization's directory, instead of `membershipId`. */
  groupId?: string | null | undefined;
  membershipId?: string | null | undefined;
  roleKey: string;
};

/** Exactly one of `userId` and `groupId`, in the project of the role. */
export type AssignRoleInput = {
  groupId?: string | null | undefined;
  roleId: string;
  userId?: string | null | undefined;
};

/** Absent fields do not filter. */
export type AuditEventFilter = {
  actorId?: string | null | undefined;
  /** The application is the client or the subject. */
  clientId?: string | null | undefined;
  /** The organization, its members, roles of members, invitations and domains. */
  organizationId?: string | null | undefined;
  /** The `X-Request-Id` of a response. */
  requestId?: string | null | undefined;
  result?: AuditResult | null | undefined;
  /** `signInId` of the detail: the events of one sign-in. */
  signInId?: string | null | undefined;
  /** At or after this time. */
  since?: string | null | undefined;
  subjectId?: string | null | undefined;
  /** Any of these; at most 100. */
  types?: Array<string> | null | undefined;
  /** Before this time. */
  until?: string | null | undefined;
  /** The user is the actor or the subject. */
  userId?: string | null | undefined;
};

/** Result of an event. */
export type AuditResult =
  | 'FAILURE'
  | 'SUCCESS';

export type BeginImpersonationInput = {
  /** A first-party application with a start address. */
  clientId: string;
  /** For requests that name no organization. */
  organizationId?: string | null | undefined;
  /** For the event and the mail to the user. At most 500 characters. */
  reason: string;
  userId: string;
};

/** Built-in project or client. */
export type BuiltIn =
  | 'CONSOLE'
  | 'DEMO';

/** Credential of the caller. */
export type CallerKind =
  | 'ADMIN'
  | 'ADMIN_TOKEN'
  | 'BOOTSTRAP_TOKEN'
  | 'CLIENT';

export type ChangeUsersInput = {
  action: UserAction;
  projectId: string;
  /** At most 100. */
  userIds: Array<string>;
};

/** Severity of a check. */
export type CheckLevel =
  | 'FAIL'
  | 'OK'
  | 'WARN';

/** A list of a user. */
export type ClaimList =
  | 'DIRECTORY_ROLES'
  | 'EMAILS'
  | 'ENTITLEMENTS'
  | 'GROUPS'
  | 'ROLES';

/** Exactly one of `attribute`, `constant`, `template` and `list`. */
export type ClaimMappingInput = {
  /** One of `ClaimSettings.attributes`. */
  attribute?: string | null | undefined;
  /** Claims of OpenID Connect and of JWT are reserved. */
  claim: string;
  /** Text, a number, true, false or a list of texts. */
  constant?: unknown;
  list?: ListFilterInput | null | undefined;
  /** Sent only with this scope; absent: always. */
  scope?: string | null | undefined;
  /** Text with attributes, e.g. ${userName}@example.com. */
  template?: string | null | undefined;
};

/** Reason why a mapped claim is not sent. */
export type ClaimOmission =
  | 'NO_VALUE'
  | 'TOO_LONG';

/** Absent fields are unchanged. */
export type ClaimSettingsInput = {
  /** Default: false. */
  directoryRoles?: boolean | null | undefined;
  /** For PREFIX. */
  groupPrefix?: string | null | undefined;
  /** Default: ALL. */
  groups?: GroupSelection | null | undefined;
  /** 1 to 1000; default: 200. */
  listLimit?: number | null | undefined;
  /** At most 30; replaces all. */
  mappings?: Array<ClaimMappingInput> | null | undefined;
  /** Default: roles. */
  rolesClaim?: string | null | undefined;
};

/** The users who may use an application: each of the project, or those whom its access rules name. */
export type ClientAccess =
  | 'ASSIGNED'
  | 'EVERYONE';

/** How a client introduced itself: by a metadata document, or by registration (RFC 7591). */
export type ClientIntroduction =
  | 'DOCUMENT'
  | 'REGISTRATION';

/** The environment in which an application runs. */
export type ClientKind =
  | 'NATIVE'
  | 'SINGLE_PAGE'
  | 'WEB_SERVER';

/** Which clients may use the URL of a Client ID Metadata Document as their `client_id`. */
export type ClientMetadataDocuments =
  | 'ANYONE'
  | 'DOMAINS'
  | 'OFF';

/** Which clients may register themselves (RFC 7591): none, those with an initial access token, or all. */
export type ClientRegistration =
  | 'OFF'
  | 'OPEN'
  | 'TOKEN';

/** Protocol of an upstream provider. */
export type ConnectionKind =
  | 'OIDC'
  | 'SAML';

/** Only an enabled connection is offered to users. `TESTED`: a test succeeded with the current settings. */
export type ConnectionState =
  | 'DISABLED'
  | 'DRAFT'
  | 'ENABLED'
  | 'TESTED';

export type CreateApiInput = {
  /** 60 to 3600 seconds; default: 900. */
  accessTokenTtlSeconds?: number | null | undefined;
  /** An absolute URI without a fragment: `resource`, and `aud` of its tokens. It cannot be changed. */
  identifier: string;
  name: string;
  projectId: string;
  /** At least one. */
  scopes: Array<ApiScopeInput>;
  /** Whether third-party applications get tokens for its scopes, if the user consents. Default: false. */
  thirdPartyAccess?: boolean | null | undefined;
  /** Whether applications can exchange tokens of other APIs for its tokens (RFC 8693). Default: false. */
  tokenExchange?: boolean | null | undefined;
  /** Whether users can make API keys for it. Default: false. */
  userKeys?: boolean | null | undefined;
};

export type CreateClientInput = {
  /** Default: EVERYONE. */
  access?: ClientAccess | null | undefined;
  /** 1 to 3600 seconds; default: the project's value. */
  accessTokenTtlSeconds?: number | null | undefined;
  /** Its scopes at this API, in its project, with tokens of the grant CLIENT_CREDENTIALS: `users:read`, `users:write`, `consent:read`, `consent:write`, `clients:read`, `clients:write`, `projects:read`, `projects:write`, `audit:read`, `profile:self`; and `scim`, at the SCIM endpoints. Default: none. */
  adminScopes?: Array<string> | null | undefined;
  /** Default: true. */
  backchannelLogoutSessionRequired?: boolean | null | undefined;
  backchannelLogoutUri?: string | null | undefined;
  /** Authorization servers for which it gets identity assertions (ID-JAG) by token exchange: `audience`, the issuer; `clientId` of the application there; and at most which `scopes` and `resources`, none if absent. */
  crossAppAccess?: unknown;
  /** Whether DPoP proofs need a nonce of this server (RFC 9449 section 8). Default: false. */
  dpopNonceRequired?: boolean | null | undefined;
  /** Whether token requests without a DPoP proof are refused (RFC 9449 section 5.2). Default: false. */
  dpopRequired?: boolean | null | undefined;
  /** Whether it must comply with the FAPI 2.0 Security Profile: PRIVATE_KEY_JWT, ID tokens with ES256 or EDDSA, https redirect URIs; pushed requests, PKCE and DPoP. Default: false. */
  fapiProfile?: boolean | null | undefined;
  /** At the project's issuer. Default: AUTHORIZATION_CODE, which every client has, and REFRESH_TOKEN with a client secret. */
  grantTypes?: Array<GrantType> | null | undefined;
  /** At the project's issuer. Default: RS256 with a client secret, else ES512, the only one at the base issuer. */
  idTokenSignedResponseAlg?: IdTokenAlgorithm | null | undefined;
  /** 1 to 86,400 seconds. Default: 300 with a client secret, else the project's value, which null selects. */
  idTokenTtlSeconds?: number | null | undefined;
  /** Public keys: a JWK or a JWK Set, as an object or as JSON text. The base issuer accepts Ed25519; that of the project also P-256 and RSA. */
  jwks?: unknown;
  /** The https URL of its keys, instead of `jwks`. */
  jwksUri?: string | null | undefined;
  /** For the console's instructions. */
  kind?: ClientKind | null | undefined;
  /** Whether users sign in again if `login_hint` does not name the signed-in one, at its project's issuer; the base issuer ignores it. Default: true. */
  loginHintChecked?: boolean | null | undefined;
  /** The id of an uploaded logo: `POST /admin/projects/{id}/logos`. */
  logoId?: string | null | undefined;
  /** Default: SECEVENT. */
  logoutTokenTyp?: LogoutTokenTyp | null | undefined;
  name: string;
  /** Whether its users must sign in as members of an organization. Default: false. */
  organizationRequired?: boolean | null | undefined;
  /** Default: false. */
  passkeyRequired?: boolean | null | undefined;
  /** Whether a confidential client may omit PKCE at its project's issuer. A challenge that was sent is bound all the same. Without one, the credential and the nonce protect a code. Default: true with a client secret, unless `pkceRequired`; else false. */
  pkceOptional?: boolean | null | undefined;
  /** Whether sign-ins by the browser SDK require a code_challenge. Redirects always do, unless `pkceOptional`. True for a new client with a secret: the same as `pkceOptional: false`. */
  pkceRequired?: boolean | null | undefined;
  postLogoutRedirectUris?: Array<string> | null | undefined;
  projectId: string;
  /** Whether it must push its authorization requests to its project's issuer (RFC 9126). Default: false. */
  pushedRequestsRequired?: boolean | null | undefined;
  /** Must match exactly, except the port of a loopback address; https, http on loopback, or the scheme of an app, such as com.example.app:/callback, for public clients. */
  redirectUris?: Array<string> | null | undefined;
  /** Idle timeout of its refresh tokens, in seconds. The shorter value of client and project applies. */
  refreshTokenIdleSeconds?: number | null | undefined;
  /** Lifetime of its refresh tokens after a sign-in, in seconds. The shorter value of client and project applies. */
  refreshTokenTtlSeconds?: number | null | undefined;
  /** Default: false. */
  relatedOrigins?: boolean | null | undefined;
  /** Certificates of its signed requests (PEM or base64), at most 5. Logout requests need one. */
  samlCertificates?: Array<string> | null | undefined;
  /** Certificate with an RSA key that assertions are encrypted for (PEM or base64). Absent: not encrypted. */
  samlEncryptionCertificate?: string | null | undefined;
  /** Entity ID: makes the client a SAML application, with its ACS URLs in `redirectUris`, the default first. Cannot be added or removed later. */
  samlEntityId?: string | null | undefined;
  /** Default: false. */
  samlIdpInitiated?: boolean | null | undefined;
  /** The ResponseLocation of its SingleLogoutService, where logout responses go. Absent: `samlLogoutUri`. */
  samlLogoutResponseUri?: string | null | undefined;
  /** Its SingleLogoutService (SOAP): logout requests are posted there by this server, and not by the browser to `samlLogoutUri`. */
  samlLogoutSoapUri?: string | null | undefined;
  /** Its SingleLogoutService (HTTP-Redirect), where logout requests and responses go. Needs a certificate. */
  samlLogoutUri?: string | null | undefined;
  /** The https address of its metadata. It is read daily, for new certificates only. */
  samlMetadataUrl?: string | null | undefined;
  /** The NameID, if its requests name no format. Default: PERSISTENT, the `sub` of the user. PAIRWISE: a value of this application alone. */
  samlNameId?: SamlNameId | null | undefined;
  /** The claim that is the NameID of kind ATTRIBUTE, such as `preferred_username`. Must identify one user. */
  samlNameIdAttribute?: string | null | undefined;
  /** Default: false. */
  samlRequestsSigned?: boolean | null | undefined;
  /** Default: BOTH. */
  samlSigned?: SamlSigned | null | undefined;
  /** False: no secret key, for an application without a back end. Default: true. */
  secretKey?: boolean | null | undefined;
  /** https, or http on loopback. The account page links to applications with a start address. */
  startUri?: string | null | undefined;
  /** Whether users must consent before it gets their data. The browser SDK is refused. Default: false. */
  thirdParty?: boolean | null | undefined;
  /** Default: NONE. */
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null | undefined;
  /** `aud` of the tokens of its workload; must match exactly. */
  workloadAudience?: string | null | undefined;
  /** With `PRIVATE_KEY_JWT`: the https issuer of the tokens of a CI job or service account. Its keys are discovered, unless the application has `jwks` or `jwksUri`. */
  workloadIssuer?: string | null | undefined;
  /** `sub` of the tokens of its workload; must match exactly. */
  workloadSubject?: string | null | undefined;
};

export type CreateConnectionInput = {
  /** OpenID Connect: whether applications with the grant `JWT_BEARER` get tokens for identity assertions (ID-JAG) of its issuer. At most one connection of an issuer. Default: false; also after a change of the issuer. */
  acceptsAssertions?: boolean | null | undefined;
  /** Whether a person without an account gets one, if their address may sign up; by a connection of an organization, at home there, if the address is in a verified domain of it. Default: false. */
  jit?: boolean | null | undefined;
  kind: ConnectionKind;
  /** The claim of each attribute: `givenName`, `familyName`, `displayName`, `locale`. Default: the standard claims. */
  mappings?: Record<string, unknown> | null | undefined;
  /** Shown on the sign-in page. */
  name: string;
  /** Of the kind `OIDC`. Values of the provider can follow later. */
  oidc?: OidcConnectionInput | null | undefined;
  organizationId?: string | null | undefined;
  /** `generic` (default), `google`, `microsoft`, `entra`, `okta`, `auth0`, `keycloak`, `gitlab`, `onelogin`, `jumpcloud`, `pingone` or `adfs`. */
  preset?: string | null | undefined;
  /** Either this or `organizationId`. */
  projectId?: string | null | undefined;
  /** Whether each sign-in updates the profile. Default: false, only the first one sets it. */
  refreshesProfile?: boolean | null | undefined;
  /** Of a connection of an organization: `claim`, and in `roles` the key of the role for each of its values, such as groups. Each sign-in gives these roles and takes the others of them. An empty object: none, the default. */
  roleMappings?: Record<string, unknown> | null | undefined;
  /** Of the kind `SAML`. The metadata can follow later. */
  saml?: SamlConnectionInput | null | undefined;
};

export type CreateCustomAttributeInput = {
  /** Blank: none. */
  alias?: string | null | undefined;
  caseExact?: boolean | null | undefined;
  description?: string | null | undefined;
  indexed?: boolean | null | undefined;
  multiValued?: boolean | null | undefined;
  /** READ_ONLY: only admins write it. */
  mutability?: CustomMutability | null | undefined;
  /** Letters, digits, _ and -. It cannot be changed. */
  name: string;
  projectId: string;
  required?: boolean | null | undefined;
  returned?: CustomReturned | null | undefined;
  subAttributes?: Array<CustomPartInput> | null | undefined;
  type: CustomType;
  /** SERVER: unique in the project. */
  uniqueness?: CustomUniqueness | null | undefined;
  visibleTo?: Array<CustomAudience> | null | undefined;
};

export type CreateGroupInput = {
  displayName: string;
  projectId: string;
};

export type CreateLogStreamInput = {
  /** One line of at most 100 characters. */
  description?: string | null | undefined;
  /** Default: JSON_LINES. For HTTP. */
  format?: LogStreamFormat | null | undefined;
  /** Compresses the body. For HTTP. */
  gzip?: boolean | null | undefined;
  /** Name of the header with the secret; default: `Authorization`. */
  header?: string | null | undefined;
  kind: LogStreamKind;
  /** Absent: the events of the instance and of all projects. */
  projectId?: string | null | undefined;
  /** Value of the header, e.g. `Bearer` and a token. For HTTP. */
  secret?: string | null | undefined;
  /** HTTP: an https URL. SYSLOG: `tls://host:port`. FILE: a name that ends in `.jsonl`. Hosts must have a public address. */
  target: string;
  /** Event types, e.g. `user.created`, or all types of a resource, e.g. `user.*`; empty: all types. */
  types?: Array<string> | null | undefined;
};

export type CreateOrganizationInput = {
  /** Keys of the roles that new members get if none is named. */
  defaultRoleKeys?: Array<string> | null | undefined;
  /** Whether a mail code may replace a required connection that cannot be reached. Default: false. */
  fallback?: boolean | null | undefined;
  /** The shorter value of organization and project applies. */
  idleTimeoutSeconds?: number | null | undefined;
  /** ON: such users become members when they sign in by a mail code. ASK: an admin decides. */
  joinByDomain?: JoinByDomain | null | undefined;
  /** The shorter value of organization and project applies. */
  maxSessionSeconds?: number | null | undefined;
  /** At most 4 KB, for the project's own back end. Replaces the former one. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Null: the project's policy. */
  mfaPolicy?: OrganizationMfaPolicy | null | undefined;
  name: string;
  projectId: string;
  /** CONNECTION: only by the organization's identity provider, also people with an address in its mail domains. */
  signIn?: OrganizationSignIn | null | undefined;
  /** 1 to 63 lower-case letters, digits and hyphens; begins with a letter or digit. */
  slug: string;
};

export type CreateOrganizationRoleInput = {
  /** The value in `org_roles`; letters, digits and _ . : / @ -. It cannot be changed. */
  key: string;
  name: string;
  projectId: string;
};

export type CreatePortalLinkInput = {
  /** What the link allows. */
  can: Array<PortalTask>;
  /** Of the IT contact. The portal sends new links to it; the first one is sent by the caller. */
  email: string;
  /** Within the next 30 days. Default: in 7 days. */
  expiresAt?: string | null | undefined;
  organizationId: string;
  /** A page that the portal leads back to. Its origin must be that of a redirect URI of an application of the project. */
  returnUrl?: string | null | undefined;
};

export type CreateProjectInput = {
  /** Whether users can delete their own account, except those of an authoritative directory. Default: true. */
  accountDeletion?: boolean | null | undefined;
  /** 0 to 90, for new requests. 0: at once. */
  accountDeletionDays?: number | null | undefined;
  /** At most 1,000 domains, such as example.com; the domains below them are blocked, too. */
  blockedClientDomains?: Array<string> | null | undefined;
  /** At most 1,000 mail domains, such as example.com; the domains below them are blocked, too. */
  blockedSignUpDomains?: Array<string> | null | undefined;
  /** Whether addresses at known services of disposable mailboxes cannot sign up. Default: false. */
  blocksDisposableMail?: boolean | null | undefined;
  /** At the project's issuer. */
  clientMetadataDocuments?: ClientMetadataDocuments | null | undefined;
  /** At most 1,000 domains, such as example.com; *.example.com: all below it. */
  clientMetadataDomains?: Array<string> | null | undefined;
  /** What clients of a domain that introduced themselves get at most: `domain`, or `*` for all; `scopes`, `apis`, `accessTokenTtlSeconds`, `refreshTokenTtlSeconds`, `consentText`. */
  clientPolicies?: unknown;
  /** At the project's issuer. Registered clients stay if it is turned off. */
  clientRegistration?: ClientRegistration | null | undefined;
  /** 1 to 3650. */
  deviceTrustDays?: number | null | undefined;
  /** Seconds for which a remembered device stays trusted after its last use. */
  deviceTrustSeconds?: number | null | undefined;
  /** Whether email as a second factor satisfies `REQUIRED`. Default: false. */
  emailFactor?: boolean | null | undefined;
  /** Whether admins with the right may use an application as a user for 15 minutes. Default: false. */
  impersonation?: boolean | null | undefined;
  /** Whether the user gets a mail when an impersonation begins. Default: true. */
  impersonationNotices?: boolean | null | undefined;
  mfaPolicy?: MfaPolicy | null | undefined;
  name: string;
  /** Null: at the project issuer and custom domains, not at the base issuer. Default of new projects: null. */
  notifyOnDeactivation?: boolean | null | undefined;
  /** At least one. */
  offeredFactors?: Array<MfaMethod> | null | undefined;
  /** Default: false. */
  organizationsEnabled?: boolean | null | undefined;
  /** AAGUIDs of the models of passkeys that users may create, at most 100. Empty: all, or all of `passkeyRoots`. */
  passkeyAaguids?: Array<string> | null | undefined;
  /** Default: ALLOWED. */
  passkeyPolicy?: PasskeyPolicy | null | undefined;
  /** CA certificates of their makers in PEM, at most 10. Empty: the claimed model is not verified. */
  passkeyRoots?: Array<string> | null | undefined;
  /** Seconds for which a device can skip the second factor; 0: never. */
  rememberMfaSeconds?: number | null | undefined;
  /** Whether the directory's values take precedence and its users' phone numbers are locked. Default: true. */
  scimAuthoritative?: boolean | null | undefined;
  scimEnabled?: boolean | null | undefined;
  /** At most 20 addresses or ranges (CIDR), IPv4 /16 or smaller, IPv6 /32 or smaller. */
  sharedNetworks?: Array<string> | null | undefined;
  signUp?: SignUp | null | undefined;
  /** At most 1,000 mail domains, such as example.com; *.example.com: all below it. */
  signUpDomains?: Array<string> | null | undefined;
  /** Whether admins get a mail about requests to sign up, with sign-up mode `APPROVAL`. Default: true. */
  signUpMails?: boolean | null | undefined;
  /** 1 to 90, for new requests. */
  signUpRequestDays?: number | null | undefined;
  /** 1 to 40 of a-z, 0-9 and hyphens. Default: made from the name. Never changes. */
  slug?: string | null | undefined;
  /** ISO 3166-1 alpha-2; empty: all countries. */
  smsCountries?: Array<string> | null | undefined;
  /** 0 to 1,000,000; 0: none. */
  smsPerDay?: number | null | undefined;
  testMode?: boolean | null | undefined;
};

export type CreateRoleInput = {
  clientId: string;
  description?: string | null | undefined;
  /** The value that the application receives; letters, digits and _ . : / @ -. It cannot be changed. */
  key: string;
  name: string;
};

/** Needs an email address or a userName. */
export type CreateUserInput = {
  /** ISO 8601, e.g. 1990-12-31. */
  birthdate?: string | null | undefined;
  /** Custom attributes of the project. */
  custom?: Array<CustomValueInput> | null | undefined;
  displayName?: string | null | undefined;
  /** Login address. */
  email?: string | null | undefined;
  familyName?: string | null | undefined;
  givenName?: string | null | undefined;
  /** Sends an invitation, in the language of `locale`. Default: false. */
  invite?: boolean | null | undefined;
  /** BCP 47, e.g. en-US. Also the language of mails. */
  locale?: string | null | undefined;
  /** An organization, as the home of the new users. Default: the project. */
  organizationId?: string | null | undefined;
  /** E.164, e.g. +41791234567. */
  phone?: string | null | undefined;
  projectId: string;
  /** `sub` in tokens, from another system: at most 255 ASCII characters, unique in the project, never changed. Default: the id. */
  subject?: string | null | undefined;
  /** Default: the email address. */
  userName?: string | null | undefined;
  /** IANA time zone, e.g. Europe/Zurich. */
  zoneinfo?: string | null | undefined;
};

export type CreateWebhookInput = {
  /** One line of at most 100 characters. */
  description?: string | null | undefined;
  projectId: string;
  /** Event types, e.g. `user.created`, or all types of a resource, e.g. `user.*`; empty: all types. */
  types?: Array<string> | null | undefined;
  /** https. Its host must have a public address. */
  url: string;
};

/** Readers of values: applications, by claim mappings; the user, on the account page. */
export type CustomAudience =
  | 'APPLICATIONS'
  | 'USER';

/** Result of a check: no record with the value, no response from the name servers, or another project holds the host. */
export type CustomDomainFault =
  | 'MISSING'
  | 'TAKEN'
  | 'UNAVAILABLE';

/** Whether a custom domain serves its project. `FAILED`: it was not verified in time, or its record was removed. */
export type CustomDomainState =
  | 'FAILED'
  | 'PENDING'
  | 'VERIFIED';

/** Whether directories can write it. */
export type CustomMutability =
  | 'IMMUTABLE'
  | 'READ_ONLY'
  | 'READ_WRITE'
  | 'WRITE_ONLY';

/** A part of a complex attribute. */
export type CustomPartInput = {
  caseExact?: boolean | null | undefined;
  description?: string | null | undefined;
  name: string;
  type: CustomPartType;
};

/** Type of a part of a custom attribute. */
export type CustomPartType =
  | 'BOOLEAN'
  | 'DATE_TIME'
  | 'DECIMAL'
  | 'INTEGER'
  | 'REFERENCE'
  | 'STRING';

/** Condition under which directories can read it. */
export type CustomReturned =
  | 'ALWAYS'
  | 'DEFAULT'
  | 'NEVER'
  | 'REQUEST';

/** Type of a custom attribute (RFC 7643 section 2.3). */
export type CustomType =
  | 'BOOLEAN'
  | 'COMPLEX'
  | 'DATE_TIME'
  | 'DECIMAL'
  | 'INTEGER'
  | 'REFERENCE'
  | 'STRING';

/** Whether users can share a value. */
export type CustomUniqueness =
  | 'NONE'
  | 'SERVER';

export type CustomValueInput = {
  name: string;
  /** Null removes it. */
  value?: unknown;
};

/** Owner of the keys: the client (service provider) or Latchkey (identity provider). */
export type DelegationParty =
  | 'IDP'
  | 'SP';

export type DeleteOrganizationInput = {
  id: string;
  /** Users at home in the organization: erased, or moved to the project. Required if there are any. */
  people?: OrganizationPeople | null | undefined;
};

export type DeleteProjectInput = {
  /** The name of the project, as confirmation. */
  confirmName: string;
  id: string;
};

/** Sort direction. */
export type Direction =
  | 'ASC'
  | 'DESC';

export type DiscardExperienceDraftInput = {
  expectedVersion?: number | null | undefined;
  projectId: string;
};

/** A step of a sign-in. */
export type ExpectedStepKind =
  | 'CREATION'
  | 'DEVICE_KEY'
  | 'ENROLMENT'
  | 'FACTOR'
  | 'MAIL_CODE'
  | 'PASSKEY';

export type ExperienceTextInput = {
  key: string;
  locale: string;
  text: string;
};

export type FinishTrialInput = {
  clientId: string;
  code: string;
  /** As in the redirect. */
  state: string;
};

/** Exactly one of `userId`, `groupId`, `roleKey` and `organizationId`, in the project of the application. */
export type GrantAccessInput = {
  clientId: string;
  groupId?: string | null | undefined;
  /** Its members, when they sign in to it. */
  organizationId?: string | null | undefined;
  /** `key` of a role of the application. */
  roleKey?: string | null | undefined;
  userId?: string | null | undefined;
};

export type GrantRoleInput = {
  /** The address used to sign in to the console. */
  email: string;
  /** Whether the admin may use applications as users, where the project allows it. Default: false. */
  impersonates?: boolean | null | undefined;
  /** Sends a mail with the role and the address of the console. Default: false. */
  invite?: boolean | null | undefined;
  /** Of the project; required for ORGANIZATION_ADMIN, absent for other roles; at most 50. */
  organizationIds?: Array<string> | null | undefined;
  /** Required for every role except OWNER. */
  projectId?: string | null | undefined;
  role: Role;
};

/** Grants of the token endpoint. */
export type GrantType =
  | 'AUTHORIZATION_CODE'
  | 'CLIENT_CREDENTIALS'
  | 'DEVICE_CODE'
  | 'JWT_BEARER'
  | 'REFRESH_TOKEN'
  | 'TOKEN_EXCHANGE';

export type GrantUserRecoveryInput = {
  /** For the event. At most 500 characters. */
  reason: string;
  userId: string;
  /** Waiting time in hours, from 1 to 72; default 24. */
  waitHours?: number | null | undefined;
};

/** The groups in the claim `groups`. */
export type GroupSelection =
  | 'ALL'
  | 'ASSIGNED'
  | 'PREFIX';

/** Signature of ID tokens. */
export type IdTokenAlgorithm =
  | 'EDDSA'
  | 'ES256'
  | 'ES512'
  | 'RS256';

export type ImportUsersInput = {
  /** Checks the rows and changes nothing. Default: false. */
  dryRun?: boolean | null | undefined;
  /** Sends an invitation to each new user. Default: false. */
  invite?: boolean | null | undefined;
  /** An organization, as the home of the new users. Default: the project. */
  organizationId?: string | null | undefined;
  projectId: string;
  /** At most 500, within 64 KB. */
  rows: Array<NewUserInput>;
};

export type InviteOrganizationMemberInput = {
  email: string;
  /** Language of the mail (BCP 47), if the address has no user. Default: en. */
  locale?: string | null | undefined;
  organizationId: string;
  /** Default: the default roles of the organization. */
  roleKeys?: Array<string> | null | undefined;
};

export type IssueAdminTokenInput = {
  /** Absent: never. If the caller is a token that expires: not after its expiry, which is also the default. */
  expiresAt?: string | null | undefined;
  name: string;
  /** Of the project; required for ORGANIZATION_ADMIN, absent for other roles; at most 50. */
  organizationIds?: Array<string> | null | undefined;
  /** Required for every role except OWNER. */
  projectId?: string | null | undefined;
  role: Role;
};

export type IssueRegistrationTokenInput = {
  /** Lifetime: 1 to 365 days. Default: 30. */
  days?: number | null | undefined;
  name: string;
  projectId: string;
};

export type IssueScimTokenInput = {
  /** Absent: never. */
  expiresAt?: string | null | undefined;
  name: string;
  /** Networks that may use it: addresses, or ranges such as `192.0.2.0/24`; at most 20. Absent or empty: all. */
  networks?: Array<string> | null | undefined;
  /** For the directory of this organization, instead of `projectId`. */
  organizationId?: string | null | undefined;
  /** For the project's own directory. */
  projectId?: string | null | undefined;
};

/** Whether users with a login address in a verified domain of an organization become its members. */
export type JoinByDomain =
  | 'ASK'
  | 'OFF'
  | 'ON';

export type ListFilterInput = {
  of: ClaimList;
  /** Default: all entries. */
  prefix?: string | null | undefined;
  /** Default: false. */
  removePrefix?: boolean | null | undefined;
};

/** Body of a batch: one event per line, or one array. */
export type LogStreamFormat =
  | 'JSON_ARRAY'
  | 'JSON_LINES';

/** Protocol of a log stream. */
export type LogStreamKind =
  | 'FILE'
  | 'HTTP'
  | 'SYSLOG';

/** Absent fields do not filter. */
export type LogoutDeliveryFilter = {
  clientId?: string | null | undefined;
  state?: LogoutDeliveryState | null | undefined;
  /** The user whose sessions ended. */
  userId?: string | null | undefined;
};

/** Delivery state of a logout token. */
export type LogoutDeliveryState =
  | 'DELIVERED'
  | 'FAILED'
  | 'PENDING';

/** Header `typ` of logout tokens: `secevent+jwt` or `logout+jwt`. */
export type LogoutTokenTyp =
  | 'LOGOUT'
  | 'SECEVENT';

/** Channel of a message. */
export type MessageChannel =
  | 'MAIL'
  | 'SMS';

/** Delivery state of a message. */
export type MessageState =
  | 'EXPIRED'
  | 'FAILED'
  | 'PENDING'
  | 'SENT'
  | 'SUPPRESSED';

/** Template of a message. */
export type MessageTemplate =
  | 'ACCOUNT_DELETED'
  | 'ACCOUNT_MOVED'
  | 'ADMIN_INVITATION'
  | 'CERTIFICATE_EXPIRING'
  | 'DELETION_CANCELLED'
  | 'DELETION_REQUESTED'
  | 'DOMAIN_FAILING'
  | 'DOMAIN_LOST'
  | 'EMAIL_CHANGED'
  | 'EMAIL_CODE'
  | 'FACTOR_CHANGED'
  | 'FACTOR_CODE'
  | 'IDENTITY_CHANGED'
  | 'IMPERSONATION'
  | 'INVITATION'
  | 'LOGIN_CHANGED'
  | 'NEW_DEVICE'
  | 'ORGANIZATION_INVITATION'
  | 'PASSKEY_CHANGED'
  | 'PHONE_CHANGED'
  | 'PHONE_CODE'
  | 'PORTAL_LINK'
  | 'RECOVERY_CODES_RENEWED'
  | 'RECOVERY_CODE_USED'
  | 'RECOVERY_GRANTED'
  | 'RECOVERY_USED'
  | 'SCIM_TOKEN_EXPIRING'
  | 'SIGN_IN_CODE'
  | 'SIGN_UP_APPROVED'
  | 'SIGN_UP_REQUESTS'
  | 'TEST_MESSAGE'
  | 'WEBHOOK_DISABLED';

/** Why metadata was not applied. `ENTITY_ID`: it names another provider. `CERTIFICATES`: it has no valid certificate. */
export type MetadataFault =
  | 'CERTIFICATES'
  | 'ENTITY_ID'
  | 'INVALID'
  | 'UNREACHABLE';

/** A kind of second factor. */
export type MfaMethod =
  | 'EMAIL'
  | 'SMS'
  | 'TOTP';

/** Whether a second factor is required. */
export type MfaPolicy =
  | 'OFF'
  | 'OPTIONAL'
  | 'REQUIRED';

/** Needs an email address or a userName. */
export type NewUserInput = {
  /** ISO 8601, e.g. 1990-12-31. */
  birthdate?: string | null | undefined;
  /** Custom attributes of the project. */
  custom?: Array<CustomValueInput> | null | undefined;
  displayName?: string | null | undefined;
  /** Login address. */
  email?: string | null | undefined;
  familyName?: string | null | undefined;
  givenName?: string | null | undefined;
  /** BCP 47, e.g. en-US. Also the language of mails. */
  locale?: string | null | undefined;
  /** E.164, e.g. +41791234567. */
  phone?: string | null | undefined;
  /** `sub` in tokens, from another system: at most 255 ASCII characters, unique in the project, never changed. Default: the id. */
  subject?: string | null | undefined;
  /** Default: the email address. */
  userName?: string | null | undefined;
  /** IANA time zone, e.g. Europe/Zurich. */
  zoneinfo?: string | null | undefined;
};

/** Settings of an OpenID Connect provider. Absent: as the preset fixes, or unchanged. */
export type OidcConnectionInput = {
  /** The client ID of this server at the provider. */
  clientId?: string | null | undefined;
  /** Stored sealed, never shown. */
  clientSecret?: string | null | undefined;
  /** Preset `google`: the Google Workspace domain that users must have; empty: any account. */
  hostedDomain?: string | null | undefined;
  /** The exact `issuer` of its discovery document. */
  issuer?: string | null | undefined;
  /** Default: openid, email and profile. */
  scopes?: Array<string> | null | undefined;
};

/** Result of a check: no record with the value, no response from the name servers, or another organization holds the domain. */
export type OrganizationDomainFault =
  | 'MISSING'
  | 'TAKEN'
  | 'UNAVAILABLE';

/** What proved a domain: its TXT record, or an admin with a reason. */
export type OrganizationDomainProof =
  | 'ADMIN'
  | 'DNS';

/** Whether a mail domain belongs to its organization. */
export type OrganizationDomainState =
  | 'PENDING'
  | 'VERIFIED';

/** How a user became a member of an organization. */
export type OrganizationMembershipSource =
  | 'ADMIN'
  | 'CONNECTION'
  | 'DIRECTORY'
  | 'DOMAIN'
  | 'INVITATION';

/** Whether a member can use an organization. */
export type OrganizationMembershipState =
  | 'ACTIVE'
  | 'REQUESTED'
  | 'SUSPENDED';

/** Second factors in an organization. */
export type OrganizationMfaPolicy =
  | 'REQUIRED';

/** Effect of a deletion on users at home in the organization. */
export type OrganizationPeople =
  | 'ERASE'
  | 'MOVE';

/** How members of an organization sign in. */
export type OrganizationSignIn =
  | 'ANY'
  | 'CONNECTION';

/** The state of an organization. */
export type OrganizationState =
  | 'ACTIVE'
  | 'SUSPENDED';

/** Use of passkeys at sign-in. */
export type PasskeyPolicy =
  | 'ALLOWED'
  | 'OFF'
  | 'PREFERRED'
  | 'REQUIRED';

/** What a portal link allows: DOMAINS adds mail domains and proves them, CONNECTION connects an identity provider, DIRECTORY issues a token for SCIM. */
export type PortalTask =
  | 'CONNECTION'
  | 'DIRECTORY'
  | 'DOMAINS';

/** Replaces the whole address. */
export type PostalAddressInput = {
  /** Two capital letters (ISO 3166-1). */
  country?: string | null | undefined;
  formatted?: string | null | undefined;
  locality?: string | null | undefined;
  postalCode?: string | null | undefined;
  region?: string | null | undefined;
  streetAddress?: string | null | undefined;
};

/** Origin of the user. */
export type Provenance =
  | 'LOCAL'
  | 'SCIM';

export type PublishExperienceInput = {
  expectedVersion?: number | null | undefined;
  projectId: string;
};

export type RegisterDelegationKeysInput = {
  clientId: string;
  /** The client's X25519 public key, PEM. */
  encryptionKey: string;
  /** Seconds for which the previous keys stay valid; default: one week. */
  overlapSeconds?: number | null | undefined;
  /** The client's Ed25519 public key, PEM. */
  signingKey: string;
};

/** `userIds`: 1 to 500 users of the project of the group. */
export type RemoveGroupMembersInput = {
  groupId: string;
  userIds: Array<string>;
};

/** The NameID format that requests ask for. `ANY`: as the provider is configured. */
export type RequestedNameId =
  | 'ANY'
  | 'EMAIL'
  | 'PERSISTENT';

export type RevertExperienceInput = {
  /** The version to restore; 0: the default branding. */
  number: number;
  projectId: string;
};

/** Role of an admin; an owner has full access to the instance. */
export type Role =
  | 'ORGANIZATION_ADMIN'
  | 'OWNER'
  | 'PROJECT_ADMIN'
  | 'PROJECT_VIEWER';

export type RotateDelegationKeysInput = {
  clientId: string;
  /** Seconds for which the previous keys stay valid; default: one week. */
  overlapSeconds?: number | null | undefined;
};

/** Settings of a SAML identity provider. Absent: the default, or unchanged. */
export type SamlConnectionInput = {
  /** Accept assertions encrypted with AES-CBC. Default: false, only AES-GCM. */
  allowsCbc?: boolean | null | undefined;
  /** Accept signatures with SHA-1. Default: false. */
  allowsSha1?: boolean | null | undefined;
  /** PEM. In place of those of `metadataXml`: the current and the next one during a rollover. */
  certificates?: Array<string> | null | undefined;
  /** The attribute with the address; empty: one with a usual name, or a NameID with the format of an address. */
  emailAttribute?: string | null | undefined;
  /** Address of its metadata, https. Read now and daily. */
  metadataUrl?: string | null | undefined;
  /** Its metadata, if there is no address: at most 50 KB. */
  metadataXml?: string | null | undefined;
  nameId?: RequestedNameId | null | undefined;
  signed?: SignedPart | null | undefined;
  /** Whether its addresses count as verified, so that users can be created without a code. Default: false. */
  vouchesForEmail?: boolean | null | undefined;
};

/** The NameID of users at a SAML application. */
export type SamlNameId =
  | 'ATTRIBUTE'
  | 'EMAIL'
  | 'PAIRWISE'
  | 'PERSISTENT'
  | 'TRANSIENT';

/** The signed parts of a SAML response. */
export type SamlSigned =
  | 'ASSERTION'
  | 'BOTH'
  | 'RESPONSE';

/** The whole draft: absent fields have the default. */
export type SaveExperienceDraftInput = {
  /** A color such as `#2f55d4`. */
  accent?: string | null | undefined;
  darkLogoId?: string | null | undefined;
  displayName?: string | null | undefined;
  expectedVersion?: number | null | undefined;
  /** From `POST /admin/projects/{id}/logos`. */
  logoId?: string | null | undefined;
  projectId: string;
  texts?: Array<ExperienceTextInput> | null | undefined;
};

/** Replaces the rights of the application at the API. Without scopes and `introspects`, the application has none. */
export type SetApiGrantInput = {
  apiId: string;
  clientId: string;
  /** Whether the application is the API itself, and may introspect its tokens. Default: false. */
  introspects?: boolean | null | undefined;
  /** Scopes of the API that its tokens may have. */
  scopes: Array<string>;
};

export type SetConnectionStateInput = {
  id: string;
  /** `ENABLED` or `DISABLED`. */
  state: ConnectionState;
};

/** Reason why a sign-in would fail. */
export type SignInDenial =
  | 'CLIENT_DISABLED'
  | 'INACTIVE'
  | 'NO_ACCESS'
  | 'NO_ADDRESS'
  | 'NO_FACTOR'
  | 'NO_MAIL';

/** The kind of a search. */
export type SignInHistoryKind =
  | 'ADDRESS'
  | 'ERROR'
  | 'LATEST'
  | 'REQUEST';

/** Result of an attempt to sign in. */
export type SignInOutcome =
  | 'REFUSED'
  | 'SIGNED_IN'
  | 'UNFINISHED';

/** Sign-up mode. */
export type SignUp =
  | 'APPROVAL'
  | 'DOMAINS'
  | 'OPEN'
  | 'PROVISIONED_ONLY';

/** Whether an admin has declined the request. */
export type SignUpRequestState =
  | 'DECLINED'
  | 'PENDING';

/** What a SAML provider must sign: `EITHER` the assertion or the whole response (default), or that one, or both. */
export type SignedPart =
  | 'ASSERTION'
  | 'BOTH'
  | 'EITHER'
  | 'RESPONSE';

/** Algorithm of a signing key. */
export type SigningAlgorithm =
  | 'EDDSA'
  | 'ES256'
  | 'ES512'
  | 'RS256';

/** Reason why a sign-in requires a step. */
export type StepReason =
  | 'ADMIN'
  | 'ENROLLED'
  | 'FRESH'
  | 'MFA_POLICY'
  | 'NEW_BROWSER'
  | 'PASSKEY_CLIENT'
  | 'PASSKEY_POLICY'
  | 'SECOND_FACTOR'
  | 'TRUSTED_BROWSER';

export type TestSenderInput = {
  channel: MessageChannel;
  /** Language of the message: en, de, es, fr, ja, ar, cs, da, fi, he, it, ko, nb, nl, pl, pt-BR, sv, tr, zh-Hans; default: en. */
  locale?: string | null | undefined;
  projectId: string;
  /** Default: a test message. */
  template?: MessageTemplate | null | undefined;
  /** Default: the caller's own address or phone. Only owners can use another. */
  to?: string | null | undefined;
};

/** Client authentication at the token endpoint (RFC 7591 §2). */
export type TokenEndpointAuthMethod =
  | 'CLIENT_SECRET_BASIC'
  | 'CLIENT_SECRET_POST'
  | 'NONE'
  | 'PRIVATE_KEY_JWT';

export type UnassignOrganizationRoleInput = {
  /** A group of the organization's directory, instead of `membershipId`. */
  groupId?: string | null | undefined;
  membershipId?: string | null | undefined;
  roleKey: string;
};

/** Exactly one of `userId` and `groupId`, in the project of the role. */
export type UnassignRoleInput = {
  groupId?: string | null | undefined;
  roleId: string;
  userId?: string | null | undefined;
};

/** Absent fields are unchanged. A scope that is omitted is removed from all applications. */
export type UpdateApiInput = {
  accessTokenTtlSeconds?: number | null | undefined;
  expectedVersion?: number | null | undefined;
  id: string;
  name?: string | null | undefined;
  scopes?: Array<ApiScopeInput> | null | undefined;
  thirdPartyAccess?: boolean | null | undefined;
  tokenExchange?: boolean | null | undefined;
  userKeys?: boolean | null | undefined;
};

/** Absent fields are unchanged. */
export type UpdateClaimSettingsInput = {
  clientId: string;
  /** Default: false. */
  directoryRoles?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  /** For PREFIX. */
  groupPrefix?: string | null | undefined;
  /** Default: ALL. */
  groups?: GroupSelection | null | undefined;
  /** 1 to 1000; default: 200. */
  listLimit?: number | null | undefined;
  /** At most 30; replaces all. */
  mappings?: Array<ClaimMappingInput> | null | undefined;
  /** Default: roles. */
  rolesClaim?: string | null | undefined;
};

/** Absent fields are unchanged; null clears `jwks`, `jwksUri`, `backchannelLogoutUri` and the lifetimes of tokens. */
export type UpdateClientInput = {
  /** Default: EVERYONE. */
  access?: ClientAccess | null | undefined;
  /** 1 to 3600 seconds; default: the project's value. */
  accessTokenTtlSeconds?: number | null | undefined;
  /** Its scopes at this API, in its project, with tokens of the grant CLIENT_CREDENTIALS: `users:read`, `users:write`, `consent:read`, `consent:write`, `clients:read`, `clients:write`, `projects:read`, `projects:write`, `audit:read`, `profile:self`; and `scim`, at the SCIM endpoints. Default: none. */
  adminScopes?: Array<string> | null | undefined;
  /** Default: true. */
  backchannelLogoutSessionRequired?: boolean | null | undefined;
  backchannelLogoutUri?: string | null | undefined;
  /** Authorization servers for which it gets identity assertions (ID-JAG) by token exchange: `audience`, the issuer; `clientId` of the application there; and at most which `scopes` and `resources`, none if absent. */
  crossAppAccess?: unknown;
  /** All requests of a disabled client are refused. */
  disabled?: boolean | null | undefined;
  /** Whether DPoP proofs need a nonce of this server (RFC 9449 section 8). Default: false. */
  dpopNonceRequired?: boolean | null | undefined;
  /** Whether token requests without a DPoP proof are refused (RFC 9449 section 5.2). Default: false. */
  dpopRequired?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  /** Whether it must comply with the FAPI 2.0 Security Profile: PRIVATE_KEY_JWT, ID tokens with ES256 or EDDSA, https redirect URIs; pushed requests, PKCE and DPoP. Default: false. */
  fapiProfile?: boolean | null | undefined;
  /** At the project's issuer. Default: AUTHORIZATION_CODE, which every client has, and REFRESH_TOKEN with a client secret. */
  grantTypes?: Array<GrantType> | null | undefined;
  id: string;
  /** At the project's issuer. Default: RS256 with a client secret, else ES512, the only one at the base issuer. */
  idTokenSignedResponseAlg?: IdTokenAlgorithm | null | undefined;
  /** 1 to 86,400 seconds. Default: 300 with a client secret, else the project's value, which null selects. */
  idTokenTtlSeconds?: number | null | undefined;
  /** Public keys: a JWK or a JWK Set, as an object or as JSON text. The base issuer accepts Ed25519; that of the project also P-256 and RSA. */
  jwks?: unknown;
  /** The https URL of its keys, instead of `jwks`. */
  jwksUri?: string | null | undefined;
  /** For the console's instructions. */
  kind?: ClientKind | null | undefined;
  /** Whether users sign in again if `login_hint` does not name the signed-in one, at its project's issuer; the base issuer ignores it. Default: true. */
  loginHintChecked?: boolean | null | undefined;
  /** The id of an uploaded logo: `POST /admin/projects/{id}/logos`. */
  logoId?: string | null | undefined;
  /** Default: SECEVENT. */
  logoutTokenTyp?: LogoutTokenTyp | null | undefined;
  name?: string | null | undefined;
  /** Whether its users must sign in as members of an organization. Default: false. */
  organizationRequired?: boolean | null | undefined;
  /** Default: false. */
  passkeyRequired?: boolean | null | undefined;
  /** Whether a confidential client may omit PKCE at its project's issuer. A challenge that was sent is bound all the same. Without one, the credential and the nonce protect a code. Default: true with a client secret, unless `pkceRequired`; else false. */
  pkceOptional?: boolean | null | undefined;
  /** Whether sign-ins by the browser SDK require a code_challenge. Redirects always do, unless `pkceOptional`. True for a new client with a secret: the same as `pkceOptional: false`. */
  pkceRequired?: boolean | null | undefined;
  postLogoutRedirectUris?: Array<string> | null | undefined;
  /** Whether it must push its authorization requests to its project's issuer (RFC 9126). Default: false. */
  pushedRequestsRequired?: boolean | null | undefined;
  /** Must match exactly, except the port of a loopback address; https, http on loopback, or the scheme of an app, such as com.example.app:/callback, for public clients. */
  redirectUris?: Array<string> | null | undefined;
  /** Idle timeout of its refresh tokens, in seconds. The shorter value of client and project applies. */
  refreshTokenIdleSeconds?: number | null | undefined;
  /** Lifetime of its refresh tokens after a sign-in, in seconds. The shorter value of client and project applies. */
  refreshTokenTtlSeconds?: number | null | undefined;
  /** Default: false. */
  relatedOrigins?: boolean | null | undefined;
  /** Certificates of its signed requests (PEM or base64), at most 5. Logout requests need one. */
  samlCertificates?: Array<string> | null | undefined;
  /** Certificate with an RSA key that assertions are encrypted for (PEM or base64). Absent: not encrypted. */
  samlEncryptionCertificate?: string | null | undefined;
  /** Entity ID: makes the client a SAML application, with its ACS URLs in `redirectUris`, the default first. Cannot be added or removed later. */
  samlEntityId?: string | null | undefined;
  /** Default: false. */
  samlIdpInitiated?: boolean | null | undefined;
  /** The ResponseLocation of its SingleLogoutService, where logout responses go. Absent: `samlLogoutUri`. */
  samlLogoutResponseUri?: string | null | undefined;
  /** Its SingleLogoutService (SOAP): logout requests are posted there by this server, and not by the browser to `samlLogoutUri`. */
  samlLogoutSoapUri?: string | null | undefined;
  /** Its SingleLogoutService (HTTP-Redirect), where logout requests and responses go. Needs a certificate. */
  samlLogoutUri?: string | null | undefined;
  /** The https address of its metadata. It is read daily, for new certificates only. */
  samlMetadataUrl?: string | null | undefined;
  /** The NameID, if its requests name no format. Default: PERSISTENT, the `sub` of the user. PAIRWISE: a value of this application alone. */
  samlNameId?: SamlNameId | null | undefined;
  /** The claim that is the NameID of kind ATTRIBUTE, such as `preferred_username`. Must identify one user. */
  samlNameIdAttribute?: string | null | undefined;
  /** Default: false. */
  samlRequestsSigned?: boolean | null | undefined;
  /** Default: BOTH. */
  samlSigned?: SamlSigned | null | undefined;
  /** https, or http on loopback. The account page links to applications with a start address. */
  startUri?: string | null | undefined;
  /** Whether users must consent before it gets their data. The browser SDK is refused. Default: false. */
  thirdParty?: boolean | null | undefined;
  /** Default: NONE. */
  tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null | undefined;
  /** `aud` of the tokens of its workload; must match exactly. */
  workloadAudience?: string | null | undefined;
  /** With `PRIVATE_KEY_JWT`: the https issuer of the tokens of a CI job or service account. Its keys are discovered, unless the application has `jwks` or `jwksUri`. */
  workloadIssuer?: string | null | undefined;
  /** `sub` of the tokens of its workload; must match exactly. */
  workloadSubject?: string | null | undefined;
};

/** Absent fields are unchanged. */
export type UpdateConnectionInput = {
  /** OpenID Connect: whether applications with the grant `JWT_BEARER` get tokens for identity assertions (ID-JAG) of its issuer. At most one connection of an issuer. Default: false; also after a change of the issuer. */
  acceptsAssertions?: boolean | null | undefined;
  id: string;
  /** Whether a person without an account gets one, if their address may sign up; by a connection of an organization, at home there, if the address is in a verified domain of it. Default: false. */
  jit?: boolean | null | undefined;
  /** The claim of each attribute: `givenName`, `familyName`, `displayName`, `locale`. Default: the standard claims. */
  mappings?: Record<string, unknown> | null | undefined;
  name?: string | null | undefined;
  oidc?: OidcConnectionInput | null | undefined;
  /** Whether each sign-in updates the profile. Default: false, only the first one sets it. */
  refreshesProfile?: boolean | null | undefined;
  /** Of a connection of an organization: `claim`, and in `roles` the key of the role for each of its values, such as groups. Each sign-in gives these roles and takes the others of them. An empty object: none, the default. */
  roleMappings?: Record<string, unknown> | null | undefined;
  saml?: SamlConnectionInput | null | undefined;
};

/** Absent fields are unchanged. While users have values, these are fixed: type, parts, multiValued, caseExact, uniqueness, indexed. */
export type UpdateCustomAttributeInput = {
  /** Blank: none. */
  alias?: string | null | undefined;
  caseExact?: boolean | null | undefined;
  description?: string | null | undefined;
  indexed?: boolean | null | undefined;
  multiValued?: boolean | null | undefined;
  /** READ_ONLY: only admins write it. */
  mutability?: CustomMutability | null | undefined;
  /** Letters, digits, _ and -. It cannot be changed. */
  name: string;
  projectId: string;
  required?: boolean | null | undefined;
  returned?: CustomReturned | null | undefined;
  subAttributes?: Array<CustomPartInput> | null | undefined;
  type?: CustomType | null | undefined;
  /** SERVER: unique in the project. */
  uniqueness?: CustomUniqueness | null | undefined;
  visibleTo?: Array<CustomAudience> | null | undefined;
};

/** Other attributes are unchanged. */
export type UpdateCustomValuesInput = {
  id: string;
  values: Array<CustomValueInput>;
};

export type UpdateGroupInput = {
  displayName: string;
  id: string;
};

/** Absent fields are unchanged. */
export type UpdateLogStreamInput = {
  description?: string | null | undefined;
  format?: LogStreamFormat | null | undefined;
  gzip?: boolean | null | undefined;
  /** Set it together with `secret`. Null for both: no header. */
  header?: string | null | undefined;
  id: string;
  /** True: events wait, for 30 days at most. */
  paused?: boolean | null | undefined;
  /** Value of the header, e.g. `Bearer` and a token. For HTTP. */
  secret?: string | null | undefined;
  /** HTTP: an https URL. SYSLOG: `tls://host:port`. FILE: a name that ends in `.jsonl`. Hosts must have a public address. A change requires the secret. */
  target?: string | null | undefined;
  /** Event types, e.g. `user.created`, or all types of a resource, e.g. `user.*`; empty: all types. */
  types?: Array<string> | null | undefined;
};

/** Absent fields are unchanged; null clears `mfaPolicy`, `idleTimeoutSeconds` and `maxSessionSeconds`. */
export type UpdateOrganizationInput = {
  /** Keys of the roles that new members get if none is named. */
  defaultRoleKeys?: Array<string> | null | undefined;
  /** Whether a mail code may replace a required connection that cannot be reached. Default: false. */
  fallback?: boolean | null | undefined;
  id: string;
  /** The shorter value of organization and project applies. */
  idleTimeoutSeconds?: number | null | undefined;
  /** ON: such users become members when they sign in by a mail code. ASK: an admin decides. */
  joinByDomain?: JoinByDomain | null | undefined;
  /** The shorter value of organization and project applies. */
  maxSessionSeconds?: number | null | undefined;
  /** At most 4 KB, for the project's own back end. Replaces the former one. */
  metadata?: Record<string, unknown> | null | undefined;
  /** Null: the project's policy. */
  mfaPolicy?: OrganizationMfaPolicy | null | undefined;
  name?: string | null | undefined;
  /** CONNECTION: only by the organization's identity provider, also people with an address in its mail domains. */
  signIn?: OrganizationSignIn | null | undefined;
  /** 1 to 63 lower-case letters, digits and hyphens; begins with a letter or digit. */
  slug?: string | null | undefined;
  /** SUSPENDED: members cannot sign in to it, and their tokens in it end. */
  state?: OrganizationState | null | undefined;
};

export type UpdateOrganizationMemberInput = {
  /** Of the membership. */
  id: string;
  /** SUSPENDED: the member cannot sign in to the organization, and their tokens in it end. */
  state: OrganizationMembershipState;
};

export type UpdateOrganizationRoleInput = {
  id: string;
  name: string;
};

/** Absent fields are unchanged. */
export type UpdateProjectInput = {
  /** Whether users can delete their own account, except those of an authoritative directory. Default: true. */
  accountDeletion?: boolean | null | undefined;
  /** 0 to 90, for new requests. 0: at once. */
  accountDeletionDays?: number | null | undefined;
  /** At most 1,000 domains, such as example.com; the domains below them are blocked, too. */
  blockedClientDomains?: Array<string> | null | undefined;
  /** At most 1,000 mail domains, such as example.com; the domains below them are blocked, too. */
  blockedSignUpDomains?: Array<string> | null | undefined;
  /** Whether addresses at known services of disposable mailboxes cannot sign up. Default: false. */
  blocksDisposableMail?: boolean | null | undefined;
  /** At the project's issuer. */
  clientMetadataDocuments?: ClientMetadataDocuments | null | undefined;
  /** At most 1,000 domains, such as example.com; *.example.com: all below it. */
  clientMetadataDomains?: Array<string> | null | undefined;
  /** What clients of a domain that introduced themselves get at most: `domain`, or `*` for all; `scopes`, `apis`, `accessTokenTtlSeconds`, `refreshTokenTtlSeconds`, `consentText`. */
  clientPolicies?: unknown;
  /** At the project's issuer. Registered clients stay if it is turned off. */
  clientRegistration?: ClientRegistration | null | undefined;
  /** 1 to 3650. */
  deviceTrustDays?: number | null | undefined;
  /** Seconds for which a remembered device stays trusted after its last use. */
  deviceTrustSeconds?: number | null | undefined;
  /** Whether email as a second factor satisfies `REQUIRED`. Default: false. */
  emailFactor?: boolean | null | undefined;
  expectedVersion?: number | null | undefined;
  id: string;
  /** Whether admins with the right may use an application as a user for 15 minutes. Default: false. */
  impersonation?: boolean | null | undefined;
  /** Whether the user gets a mail when an impersonation begins. Default: true. */
  impersonationNotices?: boolean | null | undefined;
  mfaPolicy?: MfaPolicy | null | undefined;
  name?: string | null | undefined;
  /** Null: at the project issuer and custom domains, not at the base issuer. Default of new projects: null. */
  notifyOnDeactivation?: boolean | null | undefined;
  /** At least one. */
  offeredFactors?: Array<MfaMethod> | null | undefined;
  /** Default: false. */
  organizationsEnabled?: boolean | null | undefined;
  /** AAGUIDs of the models of passkeys that users may create, at most 100. Empty: all, or all of `passkeyRoots`. */
  passkeyAaguids?: Array<string> | null | undefined;
  /** Default: ALLOWED. */
  passkeyPolicy?: PasskeyPolicy | null | undefined;
  /** CA certificates of their makers in PEM, at most 10. Empty: the claimed model is not verified. */
  passkeyRoots?: Array<string> | null | undefined;
  /** Seconds for which a device can skip the second factor; 0: never. */
  rememberMfaSeconds?: number | null | undefined;
  /** Whether the directory's values take precedence and its users' phone numbers are locked. Default: true. */
  scimAuthoritative?: boolean | null | undefined;
  scimEnabled?: boolean | null | undefined;
  /** At most 20 addresses or ranges (CIDR), IPv4 /16 or smaller, IPv6 /32 or smaller. */
  sharedNetworks?: Array<string> | null | undefined;
  signUp?: SignUp | null | undefined;
  /** At most 1,000 mail domains, such as example.com; *.example.com: all below it. */
  signUpDomains?: Array<string> | null | undefined;
  /** Whether admins get a mail about requests to sign up, with sign-up mode `APPROVAL`. Default: true. */
  signUpMails?: boolean | null | undefined;
  /** 1 to 90, for new requests. */
  signUpRequestDays?: number | null | undefined;
  /** ISO 3166-1 alpha-2; empty: all countries. */
  smsCountries?: Array<string> | null | undefined;
  /** 0 to 1,000,000; 0: none. */
  smsPerDay?: number | null | undefined;
  testMode?: boolean | null | undefined;
};

/** Absent fields are unchanged; null clears `description`. */
export type UpdateRoleInput = {
  description?: string | null | undefined;
  id: string;
  name?: string | null | undefined;
};

/** In seconds; absent fields are unchanged. */
export type UpdateSessionPolicyInput = {
  /** 1 to 3600; a client can override it. */
  accessTokenTtlSeconds?: number | null | undefined;
  expectedVersion?: number | null | undefined;
  idTokenTtlSeconds?: number | null | undefined;
  /** Idle timeout of a session. */
  idleTimeoutSeconds?: number | null | undefined;
  /** Absolute lifetime of a session. */
  maxSessionSeconds?: number | null | undefined;
  projectId: string;
  /** 60 to 7,776,000. */
  refreshTokenIdleSeconds?: number | null | undefined;
  /** 60 to 31,536,000. */
  refreshTokenTtlSeconds?: number | null | undefined;
};

/** Absent fields are unchanged; null clears a field. A directory overwrites its fields at the next sync; where it is authoritative, `phone` is refused. */
export type UpdateUserInput = {
  address?: PostalAddressInput | null | undefined;
  /** ISO 8601, e.g. 1990-12-31. */
  birthdate?: string | null | undefined;
  displayName?: string | null | undefined;
  /** Login address. */
  email?: string | null | undefined;
  familyName?: string | null | undefined;
  givenName?: string | null | undefined;
  id: string;
  /** BCP 47, e.g. en-US. */
  locale?: string | null | undefined;
  /** Login phone, E.164, e.g. +41791234567. */
  phone?: string | null | undefined;
  /** Absent: follows the email address if it is the same. */
  userName?: string | null | undefined;
  /** IANA time zone, e.g. Europe/Zurich. */
  zoneinfo?: string | null | undefined;
};

/** Absent fields are unchanged. */
export type UpdateWebhookInput = {
  /** One line of at most 100 characters. */
  description?: string | null | undefined;
  /** False: events are not queued, and waiting ones are held back. */
  enabled?: boolean | null | undefined;
  id: string;
  /** Event types, e.g. `user.created`, or all types of a resource, e.g. `user.*`; empty: all types. */
  types?: Array<string> | null | undefined;
  /** https. Its host must have a public address. */
  url?: string | null | undefined;
};

/** Action on a user. */
export type UserAction =
  | 'ACTIVATE'
  | 'DEACTIVATE'
  | 'END_SESSIONS'
  | 'ERASE'
  | 'RESET_FACTORS';

/** Absent fields do not filter. */
export type UserFilter = {
  active?: boolean | null | undefined;
  /** Members of this group. */
  groupId?: string | null | undefined;
  /** Whether the user has a second factor. */
  hasFactor?: boolean | null | undefined;
  /** Whether the user has ever signed in. */
  hasSignedIn?: boolean | null | undefined;
  /** Users at home in this organization. */
  homeId?: string | null | undefined;
  /** Whether the user was invited and has not signed in. */
  isInvited?: boolean | null | undefined;
  /** Has signed in, but not since this time. */
  notSignedInSince?: string | null | undefined;
  /** Members of this organization, suspended or not. */
  organizationId?: string | null | undefined;
  provenance?: Provenance | null | undefined;
  /** Last signed in at or after this time. */
  signedInSince?: string | null | undefined;
};

/** Sort key of users. */
export type UserOrder =
  | 'CREATED'
  | 'EMAIL'
  | 'LAST_SIGN_IN'
  | 'NAME'
  | 'USER_NAME';

export type VerifyOrganizationDomainInput = {
  id: string;
  /** Why it is proved without its record; one line, at most 500 characters. */
  reason: string;
};

/** Absent fields do not filter. */
export type WebhookDeliveryFilter = {
  state?: WebhookDeliveryState | null | undefined;
  /** Event type. */
  type?: string | null | undefined;
};

/** Delivery state of an event. */
export type WebhookDeliveryState =
  | 'DELIVERED'
  | 'FAILED'
  | 'PENDING';

/** Reason why a webhook receives nothing: an admin disabled it, deliveries failed for five days, or it returned 410 (Gone). */
export type WebhookDisabledReason =
  | 'ADMIN'
  | 'FAILURES'
  | 'GONE';

export type TotalFragment = { count: number, isLimited: boolean };

export type AccessToClientQueryVariables = Exact<{
  clientId: string;
  after?: string | null | undefined;
}>;


export type AccessToClientQuery = { assigned: TotalFragment, everyone: TotalFragment, accessRules: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, createdAt: string, user: { id: string, userName: string, displayName: string | null, active: boolean } | null, group: { id: string, displayName: string, memberCount: number, isMemberCountLimited: boolean } | null, organization: { id: string, name: string, memberCount: number, isMemberCountLimited: boolean } | null, role: { id: string, name: string, userCount: number, groupCount: number } | null } }> } };

export type GrantAccessMutationVariables = Exact<{
  input: GrantAccessInput;
}>;


export type GrantAccessMutation = { grantAccess: { id: string } };

export type RevokeAccessMutationVariables = Exact<{
  id: string;
}>;


export type RevokeAccessMutation = { revokeAccess: string };

export type MembershipRowFragment = { id: string, role: Role, impersonates: boolean, createdAt: string, admin: { id: string, name: string | null, email: string, active: boolean | null, lastSignInAt: string | null } };

export type AdminTokenRowFragment = { id: string, name: string, hint: string, role: Role, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null };

export type MembershipsQueryVariables = Exact<{
  projectId?: string | null | undefined;
}>;


export type MembershipsQuery = { memberships: Array<MembershipRowFragment> };

export type AdminTokensQueryVariables = Exact<{
  projectId?: string | null | undefined;
}>;


export type AdminTokensQuery = { adminTokens: Array<AdminTokenRowFragment> };

export type GrantRoleMutationVariables = Exact<{
  input: GrantRoleInput;
}>;


export type GrantRoleMutation = { grantRole: MembershipRowFragment };

export type RevokeRoleMutationVariables = Exact<{
  id: string;
}>;


export type RevokeRoleMutation = { revokeRole: string };

export type IssueAdminTokenMutationVariables = Exact<{
  input: IssueAdminTokenInput;
}>;


export type IssueAdminTokenMutation = { issueAdminToken: { token: string, adminToken: AdminTokenRowFragment } };

export type RevokeAdminTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeAdminTokenMutation = { revokeAdminToken: AdminTokenRowFragment };

export type ApiRowFragment = { id: string, identifier: string, name: string, accessTokenTtlSeconds: number, thirdPartyAccess: boolean, tokenExchange: boolean, userKeys: boolean, version: number, scopes: Array<{ key: string, description: string }>, protectedResource: { metadataUrl: string, metadata: Record<string, unknown> } | null };

export type ApisQueryVariables = Exact<{
  projectId: string;
}>;


export type ApisQuery = { apis: Array<ApiRowFragment> };

export type ApiGrantsQueryVariables = Exact<{
  projectId: string;
  clientId: string;
}>;


export type ApiGrantsQuery = { apis: Array<ApiRowFragment>, apiGrants: Array<{ scopes: Array<string>, introspects: boolean, api: { id: string } }> };

export type CreateApiMutationVariables = Exact<{
  input: CreateApiInput;
}>;


export type CreateApiMutation = { createApi: ApiRowFragment };

export type UpdateApiMutationVariables = Exact<{
  input: UpdateApiInput;
}>;


export type UpdateApiMutation = { updateApi: ApiRowFragment };

export type DeleteApiMutationVariables = Exact<{
  id: string;
}>;


export type DeleteApiMutation = { deleteApi: string };

export type SetApiGrantMutationVariables = Exact<{
  input: SetApiGrantInput;
}>;


export type SetApiGrantMutation = { setApiGrant: { scopes: Array<string>, introspects: boolean } | null };

export type CustomAttributeRowFragment = { name: string, description: string, type: CustomType, multiValued: boolean, required: boolean, caseExact: boolean, mutability: CustomMutability, returned: CustomReturned, uniqueness: CustomUniqueness, indexed: boolean, visibleTo: Array<CustomAudience>, alias: string | null, subAttributes: Array<{ name: string, type: CustomPartType, description: string, caseExact: boolean }> };

export type CustomAttributesQueryVariables = Exact<{
  projectId: string;
}>;


export type CustomAttributesQuery = { customAttributes: Array<CustomAttributeRowFragment> };

export type CustomAttributeUsersQueryVariables = Exact<{
  projectId: string;
  name: string;
}>;


export type CustomAttributeUsersQuery = { customAttributeUsers: number };

export type CreateCustomAttributeMutationVariables = Exact<{
  input: CreateCustomAttributeInput;
}>;


export type CreateCustomAttributeMutation = { createCustomAttribute: { name: string } };

export type UpdateCustomAttributeMutationVariables = Exact<{
  input: UpdateCustomAttributeInput;
}>;


export type UpdateCustomAttributeMutation = { updateCustomAttribute: { name: string } };

export type DeleteCustomAttributeMutationVariables = Exact<{
  projectId: string;
  name: string;
}>;


export type DeleteCustomAttributeMutation = { deleteCustomAttribute: number };

export type CustomValuesFragment = { id: string, customValues: Array<{ hasValue: boolean, value: unknown, attribute: CustomAttributeRowFragment }> };

export type UserCustomValuesQueryVariables = Exact<{
  id: string;
}>;


export type UserCustomValuesQuery = { user: CustomValuesFragment | null };

export type UpdateCustomValuesMutationVariables = Exact<{
  input: UpdateCustomValuesInput;
}>;


export type UpdateCustomValuesMutation = { updateCustomValues: { id: string } };

export type EventFactsFragment = { id: string, at: string, type: string, result: AuditResult, detail: Record<string, unknown> | null, actor: { kind: string, id: string | null, name: string | null }, subject: { kind: string, id: string | null, name: string | null } | null, person: { id: string, name: string } | null };

export type EventOriginFragment = { ip: string | null, userAgent: string | null, requestId: string | null, client: { id: string, name: string } | null, project: { id: string, name: string } | null };

export type EventRowFragment = (
  EventFactsFragment
  & EventOriginFragment
);

export type EventListFragment = { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: EventRowFragment }> };

export type AuditEventsQueryVariables = Exact<{
  projectId?: string | null | undefined;
  organizationId?: string | null | undefined;
  filter?: AuditEventFilter | null | undefined;
  first: number;
  after?: string | null | undefined;
  inProject?: boolean;
}>;


export type AuditEventsQuery = { auditEvents: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: EventFactsFragment & { ip?: string | null, userAgent?: string | null, requestId?: string | null, client?: { id: string, name: string } | null, project?: { id: string, name: string } | null } }> } };

export type AuditEventGroupsQueryVariables = Exact<{
  projectId?: string | null | undefined;
  filter?: AuditEventFilter | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type AuditEventGroupsQuery = { auditEventGroups: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { events: Array<EventRowFragment> } }> } };

export type EventUserNameQueryVariables = Exact<{
  id: string;
}>;


export type EventUserNameQuery = { user: { id: string, userName: string, displayName: string | null } | null };

export type EventClientNameQueryVariables = Exact<{
  id: string;
}>;


export type EventClientNameQuery = { client: { id: string, name: string } | null };

export type EventNamesQueryVariables = Exact<{
  userId: string;
  clientId: string;
}>;


export type EventNamesQuery = { user: { id: string, userName: string, displayName: string | null } | null, client: { id: string, name: string } | null };

export type ClaimMappingPartsFragment = { claim: string, scope: string | null, attribute: string | null, constant: unknown, template: string | null, list: { of: ClaimList, prefix: string, removePrefix: boolean } | null };

export type ClaimSettingsPartsFragment = { clientId: string, groups: GroupSelection, groupPrefix: string | null, listLimit: number, rolesClaim: string, directoryRoles: boolean, version: number, attributes: Array<string>, mappings: Array<ClaimMappingPartsFragment> };

export type ClaimSettingsOfQueryVariables = Exact<{
  clientId: string;
}>;


export type ClaimSettingsOfQuery = { claimSettings: ClaimSettingsPartsFragment };

export type ClientClaimsTabQueryVariables = Exact<{
  clientId: string;
  projectId: string;
  search?: string | null | undefined;
}>;


export type ClientClaimsTabQuery = (
  { claimSettings: ClaimSettingsPartsFragment }
  & HoldersFragment
);

export type UpdateClaimSettingsMutationVariables = Exact<{
  input: UpdateClaimSettingsInput;
}>;


export type UpdateClaimSettingsMutation = { updateClaimSettings: ClaimSettingsPartsFragment };

export type PreviewClaimsQueryVariables = Exact<{
  clientId: string;
  userId: string;
  scopes: Array<string> | string;
  draft?: ClaimSettingsInput | null | undefined;
}>;


export type PreviewClaimsQuery = { previewClaims: { idToken: Record<string, unknown>, claims: Array<{ name: string, value: unknown, scope: string | null, mapping: { claim: string, attribute: string | null, template: string | null, list: { of: ClaimList } | null } | null }>, omitted: Array<{ name: string, reason: ClaimOmission }> } };

export type ApiKeyRowFragment = { id: string, kind: ApiKeyKind, hint: string, value: string | null, createdAt: string, lastUsedAt: string | null, revokedAt: string | null };

export type ClientSecretRowFragment = { id: string, hint: string, createdAt: string, lastUsedAt: string | null, revokedAt: string | null };

export type ClientSettingsFragment = (
  { id: string, name: string, builtIn: BuiltIn | null, introducedBy: ClientIntroduction | null, kind: ClientKind | null, samlEntityId: string | null, tokenEndpointAuthMethod: TokenEndpointAuthMethod, jwks: unknown, jwksUri: string | null, workloadIssuer: string | null, workloadSubject: string | null, workloadAudience: string | null, idTokenSignedResponseAlg: IdTokenAlgorithm, redirectUris: Array<string>, postLogoutRedirectUris: Array<string>, startUri: string | null, logoId: string | null, backchannelLogoutUri: string | null, backchannelLogoutSessionRequired: boolean, logoutTokenTyp: LogoutTokenTyp, idTokenTtlSeconds: number | null, accessTokenTtlSeconds: number | null, refreshTokenTtlSeconds: number | null, refreshTokenIdleSeconds: number | null, pkceOptional: boolean, grantTypes: Array<GrantType>, access: ClientAccess, adminScopes: Array<string>, disabled: boolean, version: number, createdAt: string, updatedAt: string, apiKeys: Array<ApiKeyRowFragment>, clientSecrets: Array<ClientSecretRowFragment> }
  & ClientSwitchesFragment
);

export type ClientsQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ClientsQuery = { clients: { totalCount: number, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, name: string, builtIn: BuiltIn | null, samlEntityId: string | null, tokenEndpointAuthMethod: TokenEndpointAuthMethod, redirectUris: Array<string>, disabled: boolean, createdAt: string } }> } };

export type ClientByIdQueryVariables = Exact<{
  id: string;
}>;


export type ClientByIdQuery = { client: ClientSettingsFragment | null };

export type CreateClientMutationVariables = Exact<{
  input: CreateClientInput;
}>;


export type CreateClientMutation = { createClient: { publishableKey: string, secretKey: string | null, clientSecret: string | null, client: ClientSettingsFragment } };

export type UpdateClientMutationVariables = Exact<{
  input: UpdateClientInput;
}>;


export type UpdateClientMutation = { updateClient: ClientSettingsFragment };

export type DeleteClientMutationVariables = Exact<{
  id: string;
}>;


export type DeleteClientMutation = { deleteClient: string };

export type IssueApiKeyMutationVariables = Exact<{
  clientId: string;
  kind: ApiKeyKind;
}>;


export type IssueApiKeyMutation = { issueApiKey: { key: string, apiKey: ApiKeyRowFragment } };

export type RevokeApiKeyMutationVariables = Exact<{
  id: string;
}>;


export type RevokeApiKeyMutation = { revokeApiKey: ApiKeyRowFragment };

export type IssueClientSecretMutationVariables = Exact<{
  clientId: string;
}>;


export type IssueClientSecretMutation = { issueClientSecret: { secret: string, clientSecret: ClientSecretRowFragment } };

export type RevokeClientSecretMutationVariables = Exact<{
  id: string;
}>;


export type RevokeClientSecretMutation = { revokeClientSecret: ClientSecretRowFragment };

export type DelegationKeyRowFragment = { id: string, party: DelegationParty, signingKid: string, encryptionKid: string, signingPublicPem: string, encryptionPublicPem: string, createdAt: string, expiresAt: string | null };

export type DelegationKeysQueryVariables = Exact<{
  clientId: string;
}>;


export type DelegationKeysQuery = { client: { id: string, delegationKeys: Array<DelegationKeyRowFragment> } | null };

export type RegisterDelegationKeysMutationVariables = Exact<{
  input: RegisterDelegationKeysInput;
}>;


export type RegisterDelegationKeysMutation = { registerDelegationKeys: DelegationKeyRowFragment };

export type RotateDelegationKeysMutationVariables = Exact<{
  input: RotateDelegationKeysInput;
}>;


export type RotateDelegationKeysMutation = { rotateDelegationKeys: DelegationKeyRowFragment };

export type RevokeDelegationKeyMutationVariables = Exact<{
  id: string;
}>;


export type RevokeDelegationKeyMutation = { revokeDelegationKey: DelegationKeyRowFragment };

export type BeginTrialMutationVariables = Exact<{
  clientId: string;
}>;


export type BeginTrialMutation = { beginTrial: { address: string } };

export type FinishTrialMutationVariables = Exact<{
  input: FinishTrialInput;
}>;


export type FinishTrialMutation = { finishTrial: { userInfo: Record<string, unknown>, scope: string, revoked: boolean, client: { id: string, name: string, project: { id: string, name: string } }, idToken: { header: Record<string, unknown>, claims: Record<string, unknown>, verified: boolean }, accessToken: { header: Record<string, unknown>, claims: Record<string, unknown>, verified: boolean } } };

export type ConnectionRowFragment = { id: string, name: string, kind: ConnectionKind, preset: string, state: ConnectionState, lastSuccessAt: string | null, lastFailureAt: string | null, failures: Array<{ reason: string, count: number }> };

export type ConnectionSettingsFragment = (
  { jit: boolean, refreshesProfile: boolean, acceptsAssertions: boolean, mappings: Record<string, unknown>, hasSecret: boolean, identities: number, createdAt: string, updatedAt: string, oidc: { issuer: string, clientId: string, scopes: Array<string>, hostedDomain: string | null } | null, saml: { metadataUrl: string | null, metadataCheckedAt: string | null, metadataFault: MetadataFault | null, entityId: string, ssoUrl: string, signed: SignedPart, nameId: RequestedNameId, emailAttribute: string | null, vouchesForEmail: boolean, allowsSha1: boolean, allowsCbc: boolean, certificates: Array<{ fingerprint: string, expiresAt: string }> } | null, callback: { redirectUri: string | null, acsUrl: string | null, entityId: string | null, metadataUrl: string | null }, organization: { id: string, name: string } | null }
  & ConnectionRowFragment
);

export type ConnectionsQueryVariables = Exact<{
  projectId: string;
}>;


export type ConnectionsQuery = { connections: Array<ConnectionRowFragment> };

export type ConnectionByIdQueryVariables = Exact<{
  id: string;
}>;


export type ConnectionByIdQuery = { connection: ConnectionSettingsFragment };

export type CreateConnectionMutationVariables = Exact<{
  input: CreateConnectionInput;
}>;


export type CreateConnectionMutation = { createConnection: { connection: { id: string } } };

export type UpdateConnectionMutationVariables = Exact<{
  input: UpdateConnectionInput;
}>;


export type UpdateConnectionMutation = { updateConnection: ConnectionSettingsFragment };

export type SetConnectionStateMutationVariables = Exact<{
  input: SetConnectionStateInput;
}>;


export type SetConnectionStateMutation = { setConnectionState: ConnectionRowFragment };

export type TestConnectionMutationVariables = Exact<{
  id: string;
}>;


export type TestConnectionMutation = { testConnection: { url: string } };

export type DeleteConnectionMutationVariables = Exact<{
  id: string;
}>;


export type DeleteConnectionMutation = { deleteConnection: string };

export type OrganizationConnectionsQueryVariables = Exact<{
  id: string;
}>;


export type OrganizationConnectionsQuery = { organization: { id: string, connections: Array<ConnectionRowFragment> } | null };

export type DevMailboxQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type DevMailboxQuery = { devMailbox: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, at: string, channel: MessageChannel, to: string, subject: string | null, text: string } }> } };

export type ScimTokenRowFragment = { id: string, name: string, hint: string, createdAt: string, expiresAt: string | null, networks: Array<string>, lastUsedAt: string | null, lastUsedAddress: string | null, revokedAt: string | null };

export type ScimTokensQueryVariables = Exact<{
  projectId?: string | null | undefined;
  organizationId?: string | null | undefined;
}>;


export type ScimTokensQuery = { scimTokens: Array<ScimTokenRowFragment> };

export type DirectoryPageQueryVariables = Exact<{
  projectId: string;
}>;


export type DirectoryPageQuery = { scimTokens: Array<ScimTokenRowFragment>, customAttributes: Array<CustomAttributeRowFragment> };

export type IssueScimTokenMutationVariables = Exact<{
  input: IssueScimTokenInput;
}>;


export type IssueScimTokenMutation = { issueScimToken: { token: string, scimToken: ScimTokenRowFragment } };

export type RevokeScimTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeScimTokenMutation = { revokeScimToken: ScimTokenRowFragment };

export type ScimRequestsQueryVariables = Exact<{
  projectId?: string | null | undefined;
  organizationId?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ScimRequestsQuery = { scimRequests: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, at: string, tokenName: string, method: string, path: string, status: number, scimType: string | null, detail: string | null, durationMs: number, userAgent: string | null, requestBody: string | null, responseBody: string | null, ignored: Array<string> | null } }> } };

export type TestDirectoryMutationVariables = Exact<{
  projectId?: string | null | undefined;
  organizationId?: string | null | undefined;
}>;


export type TestDirectoryMutation = { testDirectory: Array<{ name: string, proves: string, passed: boolean, request: string, fault: string | null, durationMs: number }> };

export type DomainRowFragment = { id: string, host: string, issuer: string, state: CustomDomainState, fault: CustomDomainFault | null, challengeName: string, challenge: string, checkedAt: string | null, missingSince: string | null, unansweredSince: string | null, releaseAt: string | null };

export type CustomDomainsQueryVariables = Exact<{
  projectId: string;
}>;


export type CustomDomainsQuery = { customDomains: Array<DomainRowFragment> };

export type CreateCustomDomainMutationVariables = Exact<{
  projectId: string;
  host: string;
}>;


export type CreateCustomDomainMutation = { createCustomDomain: DomainRowFragment };

export type CheckCustomDomainMutationVariables = Exact<{
  id: string;
}>;


export type CheckCustomDomainMutation = { checkCustomDomain: DomainRowFragment };

export type DeleteCustomDomainMutationVariables = Exact<{
  id: string;
}>;


export type DeleteCustomDomainMutation = { deleteCustomDomain: string };

export type ExperiencePartsFragment = { displayName: string | null, accent: string | null, logoId: string | null, darkLogoId: string | null, texts: Array<{ locale: string, key: string, text: string }> };

export type ExperienceStateFragment = { publishedNumber: number, publishedAt: string | null, publishedBy: string | null, draftVersion: number, published: ExperiencePartsFragment, draft: ExperiencePartsFragment };

export type ExperienceOfPartsFragment = { experience: (
    { textRules: Array<{ key: string, kind: string, maxLength: number, placeholders: Array<string> }>, standardMailTexts: Array<{ locale: string, key: string, text: string }> }
    & ExperienceStateFragment
  ), clients: { edges: Array<{ node: { id: string, name: string } }> } };

export type ExperienceOfQueryVariables = Exact<{
  projectId: string;
}>;


export type ExperienceOfQuery = ExperienceOfPartsFragment;

export type ExperienceVersionsPartsFragment = { experienceVersions: { edges: Array<{ node: { id: string, number: number, publishedAt: string, publishedBy: string | null, revertedTo: number | null, content: ExperiencePartsFragment } }> } };

export type ExperienceVersionsQueryVariables = Exact<{
  projectId: string;
}>;


export type ExperienceVersionsQuery = ExperienceVersionsPartsFragment;

export type ExperiencePageQueryVariables = Exact<{
  projectId: string;
}>;


export type ExperiencePageQuery = (
  ExperienceOfPartsFragment
  & ExperienceVersionsPartsFragment
);

export type AccentThemeQueryVariables = Exact<{
  color: string;
}>;


export type AccentThemeQuery = { accentTheme: { light: TonesFragment, dark: TonesFragment } };

export type TonesFragment = { accent: string, onAccent: string, accentText: string, contrast: number, textContrast: number, isAdjusted: boolean };

export type SaveExperienceDraftMutationVariables = Exact<{
  input: SaveExperienceDraftInput;
}>;


export type SaveExperienceDraftMutation = { saveExperienceDraft: ExperienceStateFragment };

export type DiscardExperienceDraftMutationVariables = Exact<{
  input: DiscardExperienceDraftInput;
}>;


export type DiscardExperienceDraftMutation = { discardExperienceDraft: ExperienceStateFragment };

export type PublishExperienceMutationVariables = Exact<{
  input: PublishExperienceInput;
}>;


export type PublishExperienceMutation = { publishExperience: ExperienceStateFragment };

export type RevertExperienceMutationVariables = Exact<{
  input: RevertExperienceInput;
}>;


export type RevertExperienceMutation = { revertExperience: ExperienceStateFragment };

export type FirstProjectsQueryVariables = Exact<{ [key: string]: never; }>;


export type FirstProjectsQuery = { projects: { edges: Array<{ node: { id: string, name: string } }> } };

export type AccountFragment = { kind: CallerKind, id: string | null, name: string, freshUntil: string | null, lacksPasskey: boolean, grants: Array<{ role: Role, projectId: string | null, organizationIds: Array<string> | null }> };

export type SessionQueryVariables = Exact<{ [key: string]: never; }>;


export type SessionQuery = { me: AccountFragment };

export type FrameQueryVariables = Exact<{
  id: string;
  hasProject: boolean;
  isOwner: boolean;
}>;


export type FrameQuery = { me: AccountFragment, project?: ProjectSettingsFragment | null, system?: HealthFragment };

export type SwitcherProjectsQueryVariables = Exact<{
  search?: string | null | undefined;
}>;


export type SwitcherProjectsQuery = { projects: { totalCount: number, edges: Array<{ node: { id: string, name: string, builtIn: BuiltIn | null, testMode: boolean } }> } };

export type PaletteInProjectQueryVariables = Exact<{
  projectId: string;
  search: string;
}>;


export type PaletteInProjectQuery = { clients: { edges: Array<{ node: { id: string, name: string, disabled: boolean } }> }, users: { edges: Array<{ node: { id: string, userName: string, displayName: string | null, active: boolean } }> }, groups: { edges: Array<{ node: { id: string, displayName: string } }> }, organizations: { edges: Array<{ node: { id: string, name: string } }> }, projects: { edges: Array<{ node: { id: string, name: string } }> } };

export type PaletteProjectsQueryVariables = Exact<{
  search: string;
}>;


export type PaletteProjectsQuery = { projects: { edges: Array<{ node: { id: string, name: string } }> } };

export type PaletteUserQueryVariables = Exact<{
  id: string;
}>;


export type PaletteUserQuery = { user: { id: string, active: boolean } | null };

export type PaletteClientQueryVariables = Exact<{
  id: string;
}>;


export type PaletteClientQuery = { client: { id: string, disabled: boolean } | null };

export type GrantListFragment = { totalCount: number, isTotalLimited: boolean, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, scope: string, offline: boolean, createdAt: string, lastUsedAt: string, expiresAt: string, client: { id: string, name: string }, user: { id: string, userName: string } } }> };

export type RefreshGrantsQueryVariables = Exact<{
  projectId: string;
  userId?: string | null | undefined;
  clientId?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type RefreshGrantsQuery = { refreshGrants: GrantListFragment };

export type RevokeRefreshGrantMutationVariables = Exact<{
  id: string;
}>;


export type RevokeRefreshGrantMutation = { revokeRefreshGrant: string };

export type RevokeRefreshGrantsMutationVariables = Exact<{
  clientId: string;
}>;


export type RevokeRefreshGrantsMutation = { revokeRefreshGrants: string };

export type GroupsQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type GroupsQuery = { groups: { totalCount: number, isTotalLimited: boolean, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, displayName: string, externalId: string | null, provenance: Provenance, memberCount: number, isMemberCountLimited: boolean, updatedAt: string } }> } };

export type GroupDetailsFragment = { id: string, displayName: string, externalId: string | null, provenance: Provenance, memberCount: number, isMemberCountLimited: boolean, createdAt: string, updatedAt: string };

export type GroupByIdQueryVariables = Exact<{
  id: string;
}>;


export type GroupByIdQuery = { group: GroupDetailsFragment | null };

export type GroupNamesFragment = { totalCount: number, isTotalLimited: boolean, edges: Array<{ node: { id: string, displayName: string, provenance: Provenance } }> };

export type GroupsOfUserQueryVariables = Exact<{
  projectId: string;
  userId: string;
}>;


export type GroupsOfUserQuery = { groups: GroupNamesFragment };

export type GroupPageQueryVariables = Exact<{
  projectId: string;
  groupId: string;
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type GroupPageQuery = { group: GroupDetailsFragment | null, users: UserListFragment, auditEvents: EventListFragment, groupRoles: Array<RoleOfGroupFragment> };

export type LocalGroupsQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
}>;


export type LocalGroupsQuery = { groups: GroupNamesFragment };

export type CreateGroupMutationVariables = Exact<{
  input: CreateGroupInput;
}>;


export type CreateGroupMutation = { createGroup: { id: string } };

export type UpdateGroupMutationVariables = Exact<{
  input: UpdateGroupInput;
}>;


export type UpdateGroupMutation = { updateGroup: GroupDetailsFragment };

export type DeleteGroupMutationVariables = Exact<{
  id: string;
}>;


export type DeleteGroupMutation = { deleteGroup: string };

export type AddGroupMembersMutationVariables = Exact<{
  input: AddGroupMembersInput;
}>;


export type AddGroupMembersMutation = { addGroupMembers: { id: string } };

export type RemoveGroupMembersMutationVariables = Exact<{
  input: RemoveGroupMembersInput;
}>;


export type RemoveGroupMembersMutation = { removeGroupMembers: { id: string } };

export type GroupMembersQueryVariables = Exact<{
  id: string;
}>;


export type GroupMembersQuery = { group: { id: string, memberCount: number } | null };

export type IntroducedRowFragment = { id: string, name: string, introducedBy: ClientIntroduction | null, metadataUrl: string | null, redirectUris: Array<string>, disabled: boolean, version: number, createdAt: string, introduction: { claimedName: string | null, network: string | null, lastUsedAt: string, users: number, refreshGrants: number } | null };

export type IntroducedClientsQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type IntroducedClientsQuery = { clients: { totalCount: number, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: IntroducedRowFragment }> } };

export type RegistrationTokenRowFragment = { id: string, name: string, hint: string, createdAt: string, expiresAt: string, lastUsedAt: string | null, revokedAt: string | null };

export type IntroductionsQueryVariables = Exact<{
  projectId: string;
}>;


export type IntroductionsQuery = { project: { id: string, clientMetadataDocuments: ClientMetadataDocuments, clientMetadataDomains: Array<string>, blockedClientDomains: Array<string>, clientRegistration: ClientRegistration } | null, registrationTokens: Array<RegistrationTokenRowFragment> };

export type BlockClientMutationVariables = Exact<{
  input: UpdateClientInput;
}>;


export type BlockClientMutation = { updateClient: IntroducedRowFragment };

export type IssueRegistrationTokenMutationVariables = Exact<{
  input: IssueRegistrationTokenInput;
}>;


export type IssueRegistrationTokenMutation = { issueRegistrationToken: { token: string, registrationToken: RegistrationTokenRowFragment } };

export type RevokeRegistrationTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeRegistrationTokenMutation = { revokeRegistrationToken: RegistrationTokenRowFragment };

export type SigningKeyRowFragment = { id: string, alg: SigningAlgorithm, signing: boolean, createdAt: string, signsFrom: string, signsUntil: string | null, publishedUntil: string | null, withdrawnAt: string | null };

export type SigningKeysQueryVariables = Exact<{ [key: string]: never; }>;


export type SigningKeysQuery = { signingKeys: Array<SigningKeyRowFragment> };

export type RotateSigningKeysMutationVariables = Exact<{ [key: string]: never; }>;


export type RotateSigningKeysMutation = { rotateSigningKeys: Array<SigningKeyRowFragment> };

export type WithdrawSigningKeyMutationVariables = Exact<{
  id: string;
}>;


export type WithdrawSigningKeyMutation = { withdrawSigningKey: Array<SigningKeyRowFragment> };

export type LogoutDeliveryRowFragment = { id: string, createdAt: string, state: LogoutDeliveryState, sid: string | null, uri: string, nextAttemptAt: string | null, userId: string, user: { id: string, userName: string, displayName: string | null } | null, client: { id: string, name: string }, attempts: Array<{ at: string, status: number | null, error: string | null, durationMs: number }> };

export type LogoutDeliveriesQueryVariables = Exact<{
  projectId: string;
  filter?: LogoutDeliveryFilter | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type LogoutDeliveriesQuery = { logoutDeliveries: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: LogoutDeliveryRowFragment }> } };

export type LogoutReceiversQueryVariables = Exact<{
  projectId: string;
}>;


export type LogoutReceiversQuery = { auditEvents: { edges: Array<{ node: EventRowFragment }> }, logoutReceivers: Array<{ delivered: number, pending: number, failed: number, lastDeliveredAt: string | null, client: { id: string, name: string, backchannelLogoutUri: string | null } }> };

export type RetryLogoutDeliveryMutationVariables = Exact<{
  id: string;
}>;


export type RetryLogoutDeliveryMutation = { retryLogoutDelivery: { id: string } };

export type MessagesQueryVariables = Exact<{
  projectId: string;
  channel?: MessageChannel | null | undefined;
  state?: MessageState | null | undefined;
  template?: MessageTemplate | null | undefined;
  recipient?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type MessagesQuery = { messages: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, createdAt: string, channel: MessageChannel, template: MessageTemplate, recipient: string, locale: string, state: MessageState, attempts: number, note: string | null, sentAt: string | null } }> } };

export type MessagePreviewQueryVariables = Exact<{
  projectId: string;
  template: MessageTemplate;
  locale: string;
  draft: boolean;
}>;


export type MessagePreviewQuery = { messagePreview: { subject: string, text: string, sms: string | null } };

export type MessageSendersQueryVariables = Exact<{ [key: string]: never; }>;


export type MessageSendersQuery = { messageSenders: Array<{ channel: MessageChannel, kind: string | null, target: string | null, from: string | null, variables: Array<string> }> };

export type TestSenderMutationVariables = Exact<{
  input: TestSenderInput;
}>;


export type TestSenderMutation = { testSender: { channel: MessageChannel, to: string, passed: boolean, stages: Array<{ name: string, state: string, milliseconds: number | null, detail: string | null, advice: string | null }> } };

export type OrganizationsQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type OrganizationsQuery = { organizations: { totalCount: number, isTotalLimited: boolean, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, name: string, slug: string, state: OrganizationState, memberCount: number, isMemberCountLimited: boolean, createdAt: string } }> } };

export type AdministeredOrganizationsQueryVariables = Exact<{ [key: string]: never; }>;


export type AdministeredOrganizationsQuery = { administeredOrganizations: Array<{ id: string, name: string, slug: string, state: OrganizationState, memberCount: number, isMemberCountLimited: boolean, createdAt: string }> };

export type OrganizationSettingsFragment = { id: string, slug: string, name: string, state: OrganizationState, signIn: OrganizationSignIn, fallback: boolean, joinByDomain: JoinByDomain, mfaPolicy: OrganizationMfaPolicy | null, idleTimeoutSeconds: number | null, maxSessionSeconds: number | null, metadata?: Record<string, unknown>, memberCount: number, isMemberCountLimited: boolean, createdAt: string, updatedAt: string, defaultRoles: Array<{ id: string, key: string, name: string }> };

export type OrganizationByIdQueryVariables = Exact<{
  id: string;
  inProject: boolean;
}>;


export type OrganizationByIdQuery = { organization: OrganizationSettingsFragment | null };

export type ProjectOutlineFragment = { id: string, name: string, organizationsEnabled: boolean, scimEnabled: boolean };

export type ProjectOutlineQueryVariables = Exact<{
  id: string;
}>;


export type ProjectOutlineQuery = { project: ProjectOutlineFragment | null };

export type AdministeredOrganizationQueryVariables = Exact<{
  projectId: string;
  organizationId: string;
  inProject: boolean;
}>;


export type AdministeredOrganizationQuery = { project: ProjectOutlineFragment | null, organization: OrganizationSettingsFragment | null };

export type OrganizationMembersQueryVariables = Exact<{
  organizationId: string;
  after?: string | null | undefined;
}>;


export type OrganizationMembersQuery = { organizationMembers: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, state: OrganizationMembershipState, source: OrganizationMembershipSource, isHome: boolean, lastUsedAt: string | null, createdAt: string, user: { id: string, userName: string, displayName: string | null, active: boolean }, roles: Array<{ id: string, key: string, name: string }> } }> } };

export type OrganizationRolesQueryVariables = Exact<{
  projectId: string;
}>;


export type OrganizationRolesQuery = { organizationRoles: Array<{ id: string, key: string, name: string, createdAt: string }> };

export type SearchMembersQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
}>;


export type SearchMembersQuery = { users: { edges: Array<{ node: { id: string, userName: string, displayName: string | null } }> } };

export type SearchOrganizationsQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
}>;


export type SearchOrganizationsQuery = { organizations: { edges: Array<{ node: { id: string, name: string, slug: string } }> } };

export type CreateOrganizationMutationVariables = Exact<{
  input: CreateOrganizationInput;
}>;


export type CreateOrganizationMutation = { createOrganization: { id: string } };

export type UpdateOrganizationMutationVariables = Exact<{
  input: UpdateOrganizationInput;
}>;


export type UpdateOrganizationMutation = { updateOrganization: { id: string } };

export type DeleteOrganizationMutationVariables = Exact<{
  input: DeleteOrganizationInput;
}>;


export type DeleteOrganizationMutation = { deleteOrganization: string };

export type AddOrganizationMemberMutationVariables = Exact<{
  input: AddOrganizationMemberInput;
}>;


export type AddOrganizationMemberMutation = { addOrganizationMember: { id: string } };

export type UpdateOrganizationMemberMutationVariables = Exact<{
  input: UpdateOrganizationMemberInput;
}>;


export type UpdateOrganizationMemberMutation = { updateOrganizationMember: { id: string } };

export type RemoveOrganizationMemberMutationVariables = Exact<{
  id: string;
}>;


export type RemoveOrganizationMemberMutation = { removeOrganizationMember: string };

export type AssignOrganizationRoleMutationVariables = Exact<{
  input: AssignOrganizationRoleInput;
}>;


export type AssignOrganizationRoleMutation = { assignOrganizationRole: { id: string } | null };

export type UnassignOrganizationRoleMutationVariables = Exact<{
  input: UnassignOrganizationRoleInput;
}>;


export type UnassignOrganizationRoleMutation = { unassignOrganizationRole: { id: string } | null };

export type CreateOrganizationRoleMutationVariables = Exact<{
  input: CreateOrganizationRoleInput;
}>;


export type CreateOrganizationRoleMutation = { createOrganizationRole: { id: string } };

export type UpdateOrganizationRoleMutationVariables = Exact<{
  input: UpdateOrganizationRoleInput;
}>;


export type UpdateOrganizationRoleMutation = { updateOrganizationRole: { id: string } };

export type DeleteOrganizationRoleMutationVariables = Exact<{
  id: string;
}>;


export type DeleteOrganizationRoleMutation = { deleteOrganizationRole: string };

export type OrganizationInvitationsQueryVariables = Exact<{
  organizationId: string;
  after?: string | null | undefined;
}>;


export type OrganizationInvitationsQuery = { organizationInvitations: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, email: string, sentAt: string, expiresAt: string, acceptedAt: string | null, revokedAt: string | null, roles: Array<{ id: string, name: string }> } }> } };

export type InviteOrganizationMemberMutationVariables = Exact<{
  input: InviteOrganizationMemberInput;
}>;


export type InviteOrganizationMemberMutation = { inviteOrganizationMember: { id: string } };

export type ResendOrganizationInvitationMutationVariables = Exact<{
  id: string;
}>;


export type ResendOrganizationInvitationMutation = { resendOrganizationInvitation: { id: string } };

export type RevokeOrganizationInvitationMutationVariables = Exact<{
  id: string;
}>;


export type RevokeOrganizationInvitationMutation = { revokeOrganizationInvitation: { id: string } };

export type OrganizationDomainRowFragment = { id: string, domain: string, unicode: string | null, state: OrganizationDomainState, provedBy: OrganizationDomainProof | null, reason: string | null, fault: OrganizationDomainFault | null, checkedAt: string | null, failingSince: string | null, releaseAt: string | null, record: { name: string, value: string } };

export type OrganizationDomainsQueryVariables = Exact<{
  id: string;
}>;


export type OrganizationDomainsQuery = { organization: { id: string, domains: Array<OrganizationDomainRowFragment> } | null };

export type AddOrganizationDomainMutationVariables = Exact<{
  input: AddOrganizationDomainInput;
}>;


export type AddOrganizationDomainMutation = { addOrganizationDomain: { domain: { id: string } } };

export type CheckOrganizationDomainMutationVariables = Exact<{
  id: string;
}>;


export type CheckOrganizationDomainMutation = { checkOrganizationDomain: { id: string, state: OrganizationDomainState, fault: OrganizationDomainFault | null } };

export type VerifyOrganizationDomainMutationVariables = Exact<{
  input: VerifyOrganizationDomainInput;
}>;


export type VerifyOrganizationDomainMutation = { verifyOrganizationDomain: { id: string } };

export type RemoveOrganizationDomainMutationVariables = Exact<{
  id: string;
}>;


export type RemoveOrganizationDomainMutation = { removeOrganizationDomain: string };

export type OrganizationHomeQueryVariables = Exact<{
  projectId: string;
  organizationId: string;
}>;


export type OrganizationHomeQuery = { users: { totalCount: number, isTotalLimited: boolean } };

export type PortalLinksQueryVariables = Exact<{
  organizationId: string;
  after?: string | null | undefined;
}>;


export type PortalLinksQuery = { portalLinks: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, email: string, can: Array<PortalTask>, createdAt: string, usedAt: string | null, expiresAt: string, completedAt: string | null, revokedAt: string | null } }> } };

export type CreatePortalLinkMutationVariables = Exact<{
  input: CreatePortalLinkInput;
}>;


export type CreatePortalLinkMutation = { createPortalLink: { url: string } };

export type SendPortalLinkMutationVariables = Exact<{
  id: string;
  locale?: string | null | undefined;
}>;


export type SendPortalLinkMutation = { sendPortalLink: { id: string } };

export type RevokePortalLinkMutationVariables = Exact<{
  id: string;
}>;


export type RevokePortalLinkMutation = { revokePortalLink: { id: string } };

export type OverviewPartsFragment = { project: { id: string, contents: { users: number, clients: number, sessions: number, isSessionsLimited: boolean, scimTokens: number } } | null, clients: { edges: Array<{ node: { id: string, redirectUris: Array<string>, disabled: boolean } }> }, signedIn: { edges: Array<{ node: { id: string, at: string } }> }, refused: { edges: Array<{ node: { id: string, at: string } }> }, mailTested: { edges: Array<{ node: { id: string, at: string } }> }, smsLimited: { edges: Array<{ node: { id: string, at: string } }> }, scimTokens: Array<{ id: string, name: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null }>, memberships: Array<{ id: string, role: Role, admin: { id: string, active: boolean | null } }>, recent: { edges: Array<{ node: EventRowFragment }> } };

export type OverviewQueryVariables = Exact<{
  projectId: string;
  signIns: AuditEventFilter;
  rejected: AuditEventFilter;
  mailTests: AuditEventFilter;
  smsLimits: AuditEventFilter;
}>;


export type OverviewQuery = OverviewPartsFragment;

export type OwnerPartsFragment = { owners: Array<{ id: string, role: Role, admin: { id: string, active: boolean | null } }> };

export type OwnerCountQueryVariables = Exact<{ [key: string]: never; }>;


export type OwnerCountQuery = OwnerPartsFragment;

export type ActivityPartsFragment = { activity: Array<{ day: string, signIns: number, signInsOnKnownDevices: number, signInsWithPasskeys: number, activeUsers: number, codesSent: number, codesVerified: number, codeSeconds: number, refused: number, logoutsDelivered: number, logoutsFailed: number, scimRequests: number, scimRefused: number, scimFailed: number }> };

export type ActivityQueryVariables = Exact<{
  projectId: string;
}>;


export type ActivityQuery = ActivityPartsFragment;

export type OverviewPageQueryVariables = Exact<{
  projectId: string;
  signIns: AuditEventFilter;
  rejected: AuditEventFilter;
  mailTests: AuditEventFilter;
  smsLimits: AuditEventFilter;
  isOwner: boolean;
}>;


export type OverviewPageQuery = (
  OverviewPartsFragment
  & ActivityPartsFragment
) & { owners?: Array<{ id: string, role: Role, admin: { id: string, active: boolean | null } }> };

export type ProjectSettingsFragment = (
  { id: string, issuer: string, slug: string, name: string, builtIn: BuiltIn | null, scimEnabled: boolean, scimAuthoritative: boolean, testMode: boolean, signUp: SignUp, mfaPolicy: MfaPolicy, offeredFactors: Array<MfaMethod>, passkeyPolicy: PasskeyPolicy, passkeyAaguids: Array<string>, passkeyRoots: Array<string>, rememberMfaSeconds: number, deviceTrustSeconds: number, deviceTrustDays: number, smsCountries: Array<string>, smsPerDay: number, sharedNetworks: Array<string>, signUpDomains: Array<string>, signUpRequestDays: number, accountDeletionDays: number, blockedSignUpDomains: Array<string>, notifyOnDeactivation: boolean | null, idleTimeoutSeconds: number, maxSessionSeconds: number, idTokenTtlSeconds: number, accessTokenTtlSeconds: number, refreshTokenTtlSeconds: number, refreshTokenIdleSeconds: number, version: number, createdAt: string }
  & ProjectSwitchesFragment
);

export type ProjectByIdQueryVariables = Exact<{
  id: string;
}>;


export type ProjectByIdQuery = { project: ProjectSettingsFragment | null };

export type ProjectContentsQueryVariables = Exact<{
  id: string;
}>;


export type ProjectContentsQuery = { project: { id: string, contents: { users: number, clients: number, sessions: number, scimTokens: number } } | null };

export type ProjectsQueryVariables = Exact<{
  search?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ProjectsQuery = { projects: { totalCount: number, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, name: string, builtIn: BuiltIn | null, testMode: boolean, createdAt: string, usage: { users: number, clients: number, lastActivityAt: string | null } } }> } };

export type CreateProjectMutationVariables = Exact<{
  input: CreateProjectInput;
}>;


export type CreateProjectMutation = { createProject: { id: string, name: string } };

export type UpdateProjectMutationVariables = Exact<{
  input: UpdateProjectInput;
}>;


export type UpdateProjectMutation = { updateProject: ProjectSettingsFragment };

export type DeleteProjectMutationVariables = Exact<{
  input: DeleteProjectInput;
}>;


export type DeleteProjectMutation = { deleteProject: { users: number, clients: number, sessions: number, scimTokens: number } };

export type UpdateSessionPolicyMutationVariables = Exact<{
  input: UpdateSessionPolicyInput;
}>;


export type UpdateSessionPolicyMutation = { updateSessionPolicy: ProjectSettingsFragment };

export type PasskeyModelStandingQueryVariables = Exact<{
  projectId: string;
  aaguids: Array<string> | string;
  roots: Array<string> | string;
}>;


export type PasskeyModelStandingQuery = { passkeyModelStanding: { usersWithOthers: number, usersWithOnlyOthers: number } };

export type FactorStandingQueryVariables = Exact<{
  projectId: string;
}>;


export type FactorStandingQuery = { factorStanding: { activeUsers: number, isLimited: boolean, withFactor: number, email: number, sms: number, totp: number, withPasskey: number, sessionsWithoutPasskey: number, pagesWithoutPasskeys: Array<string>, canSendSms: boolean } };

export type ProjectConfigurationQueryVariables = Exact<{
  projectId: string;
}>;


export type ProjectConfigurationQuery = { projectConfiguration: string };

export type RoleRowFragment = { id: string, key: string, name: string, description: string | null, userCount: number, groupCount: number };

export type RolesQueryVariables = Exact<{
  clientId: string;
}>;


export type RolesQuery = { roles: Array<RoleRowFragment> };

export type RoleAssignmentsQueryVariables = Exact<{
  roleId: string;
  after?: string | null | undefined;
}>;


export type RoleAssignmentsQuery = { roleAssignments: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, createdAt: string, user: { id: string, userName: string, displayName: string | null } | null, group: { id: string, displayName: string } | null } }> } };

export type HeldRoleFragment = { direct: boolean, directory: boolean, role: { id: string, key: string, name: string, client: { id: string, name: string } }, groups: Array<{ id: string, displayName: string }> };

export type UserRolesQueryVariables = Exact<{
  userId: string;
}>;


export type UserRolesQuery = { userRoles: Array<HeldRoleFragment> };

export type RoleOfGroupFragment = { id: string, name: string, client: { id: string, name: string } };

export type GroupRolesQueryVariables = Exact<{
  groupId: string;
}>;


export type GroupRolesQuery = { groupRoles: Array<RoleOfGroupFragment> };

export type HoldersFragment = { users: { edges: Array<{ node: { id: string, userName: string, displayName: string | null } }> }, groups: { edges: Array<{ node: { id: string, displayName: string } }> } };

export type SearchHoldersQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
}>;


export type SearchHoldersQuery = HoldersFragment;

export type CreateRoleMutationVariables = Exact<{
  input: CreateRoleInput;
}>;


export type CreateRoleMutation = { createRole: RoleRowFragment };

export type UpdateRoleMutationVariables = Exact<{
  input: UpdateRoleInput;
}>;


export type UpdateRoleMutation = { updateRole: RoleRowFragment };

export type DeleteRoleMutationVariables = Exact<{
  id: string;
}>;


export type DeleteRoleMutation = { deleteRole: string };

export type AssignRoleMutationVariables = Exact<{
  input: AssignRoleInput;
}>;


export type AssignRoleMutation = { assignRole: { id: string } };

export type UnassignRoleMutationVariables = Exact<{
  input: UnassignRoleInput;
}>;


export type UnassignRoleMutation = { unassignRole: { id: string } };

export type SamlIdentityProviderQueryVariables = Exact<{
  projectId: string;
}>;


export type SamlIdentityProviderQuery = { samlIdentityProvider: { entityId: string, ssoUrl: string, sloUrl: string, certificates: Array<{ id: string, pem: string, fingerprint: string, expiresAt: string, signsFrom: string, publishedUntil: string | null }> } };

export type SamlServiceProviderQueryVariables = Exact<{
  projectId: string;
  metadata?: string | null | undefined;
  metadataUrl?: string | null | undefined;
}>;


export type SamlServiceProviderQuery = { samlServiceProvider: { samlEntityId: string, redirectUris: Array<string>, samlCertificates: Array<string>, samlEncryptionCertificate: string | null, samlRequestsSigned: boolean, samlLogoutUri: string | null, samlLogoutResponseUri: string | null, samlLogoutSoapUri: string | null } };

export type SamlClientQueryVariables = Exact<{
  id: string;
}>;


export type SamlClientQuery = { client: { id: string, version: number, samlEntityId: string | null, samlMetadataUrl: string | null, samlMetadataFault: MetadataFault | null, samlCertificateExpiresAt: string | null, samlNameId: SamlNameId, samlNameIdAttribute: string | null, samlSigned: SamlSigned, samlCertificates: Array<string>, samlEncryptionCertificate: string | null, samlLogoutUri: string | null, samlLogoutResponseUri: string | null, samlLogoutSoapUri: string | null, samlRequestsSigned: boolean, samlIdpInitiated: boolean } | null };

export type RotateSamlKeyMutationVariables = Exact<{
  projectId: string;
}>;


export type RotateSamlKeyMutation = { rotateSamlKey: { entityId: string } };

export type SignUpRequestsQueryVariables = Exact<{
  projectId: string;
  state: SignUpRequestState;
  after?: string | null | undefined;
}>;


export type SignUpRequestsQuery = { signUpRequests: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, address: string, state: SignUpRequestState, createdAt: string, expiresAt: string } }> } };

export type WaitingSignUpsQueryVariables = Exact<{
  projectId: string;
}>;


export type WaitingSignUpsQuery = { signUpRequests: { totalCount: number } };

export type ApproveSignUpMutationVariables = Exact<{
  id: string;
}>;


export type ApproveSignUpMutation = { approveSignUp: { id: string, userName: string } };

export type DeclineSignUpMutationVariables = Exact<{
  id: string;
}>;


export type DeclineSignUpMutation = { declineSignUp: { id: string } };

export type LogStreamRowFragment = { id: string, kind: LogStreamKind, receiver: string, description: string, types: Array<string>, format: LogStreamFormat, gzip: boolean, header: string | null, paused: boolean, position: number, failures: number, failingSince: string | null, lastError: string | null, lastDeliveredAt: string | null, createdAt: string, lag: { waiting: number, since: string | null } };

export type LogStreamsQueryVariables = Exact<{
  projectId?: string | null | undefined;
}>;


export type LogStreamsQuery = { logStreams: Array<LogStreamRowFragment> };

export type LogStreamByIdQueryVariables = Exact<{
  id: string;
}>;


export type LogStreamByIdQuery = { logStream: LogStreamRowFragment };

export type LogStreamTargetQueryVariables = Exact<{
  id: string;
}>;


export type LogStreamTargetQuery = { logStreamTarget: string };

export type CreateLogStreamMutationVariables = Exact<{
  input: CreateLogStreamInput;
}>;


export type CreateLogStreamMutation = { createLogStream: LogStreamRowFragment };

export type UpdateLogStreamMutationVariables = Exact<{
  input: UpdateLogStreamInput;
}>;


export type UpdateLogStreamMutation = { updateLogStream: LogStreamRowFragment };

export type DeleteLogStreamMutationVariables = Exact<{
  id: string;
}>;


export type DeleteLogStreamMutation = { deleteLogStream: string };

export type TestLogStreamMutationVariables = Exact<{
  id: string;
}>;


export type TestLogStreamMutation = { testLogStream: string };

export type ImpersonationsQueryVariables = Exact<{
  projectId: string;
}>;


export type ImpersonationsQuery = { impersonations: Array<{ id: string, reason: string, createdAt: string, expiresAt: string, admin: string | null, user: { id: string, userName: string, displayName: string | null }, client: { id: string, name: string } | null }> };

export type BeginImpersonationMutationVariables = Exact<{
  input: BeginImpersonationInput;
}>;


export type BeginImpersonationMutation = { beginImpersonation: { id: string, url: string, expiresAt: string } };

export type EndImpersonationMutationVariables = Exact<{
  id: string;
}>;


export type EndImpersonationMutation = { endImpersonation: string };

export type SignInHistoryOfQueryVariables = Exact<{
  projectId: string;
  about?: string | null | undefined;
}>;


export type SignInHistoryOfQuery = { signInHistory: { kind: SignInHistoryKind, about: string, user: { id: string, name: string } | null, explanation: { meaning: string, remedy: string } | null, attempts: Array<{ id: string, startedAt: string, outcome: SignInOutcome, client: { id: string, name: string } | null, steps: Array<{ isOfRequest: boolean, explanation: { meaning: string, remedy: string } | null, event: EventRowFragment }> }> } };

export type ViewAsQueryVariables = Exact<{
  clientId: string;
  userId: string;
  scopes: Array<string> | string;
}>;


export type ViewAsQuery = { viewAs: { takesPasskey: boolean, asksConsent: boolean, signIns: Array<{ deviceId: string | null, deviceName: string | null, denied: SignInDenial | null, steps: Array<{ kind: ExpectedStepKind, reason: StepReason, methods: Array<MfaMethod> }> }> } };

export type SystemQueryVariables = Exact<{ [key: string]: never; }>;


export type SystemQuery = { system: { level: CheckLevel, checks: Array<{ name: string, level: CheckLevel, summary: string, advice: string | null }>, processes: Array<{ id: string, host: string, pid: number, version: string, nodeVersion: string, startedAt: string, seenAt: string, signMicroseconds: number | null, clockSkewMs: number }>, database: { version: string, sizeBytes: number, connections: number, maxConnections: number, migrationsApplied: number }, mail: { kind: string | null, lastSentAt: string | null }, sms: { kind: string | null, lastSentAt: string | null }, jobs: Array<{ name: string, waiting: number, deferred: number, active: number, failed: number }>, backup: { takenAt: string, bytes: number } | null } };

export type HealthFragment = { level: CheckLevel, checks: Array<{ name: string, level: CheckLevel, summary: string }> };

export type SystemLevelQueryVariables = Exact<{ [key: string]: never; }>;


export type SystemLevelQuery = { system: HealthFragment };

export type SignInClientsQueryVariables = Exact<{
  projectId: string;
}>;


export type SignInClientsQuery = { clients: { pageInfo: { hasNextPage: boolean }, edges: Array<{ node: { id: string, disabled: boolean, thirdParty: boolean } }> } };

export type ImportUsersMutationVariables = Exact<{
  input: ImportUsersInput;
}>;


export type ImportUsersMutation = { importUsers: { created: number, known: Array<number>, refused: Array<{ row: number, field: string | null, message: string }> } };

export type InviteUserMutationVariables = Exact<{
  userId: string;
}>;


export type InviteUserMutation = { inviteUser: { id: string } };

export type RevokeInvitationMutationVariables = Exact<{
  userId: string;
}>;


export type RevokeInvitationMutation = { revokeInvitation: { id: string } };

export type UserKeyRowFragment = { id: string, name: string, hint: string, scopes: Array<string>, expiresAt: string, lastUsedAt: string | null, api: { id: string, name: string } };

export type UserKeysQueryVariables = Exact<{
  userId: string;
}>;


export type UserKeysQuery = { userKeys: Array<UserKeyRowFragment> };

export type RevokeUserKeyMutationVariables = Exact<{
  id: string;
}>;


export type RevokeUserKeyMutation = { revokeUserKey: string };

export type UserRowFragment = { id: string, userName: string, displayName: string | null, externalId: string | null, email: string | null, phone: string | null, active: boolean, provenance: Provenance, lastSignInAt: string | null, invitedAt: string | null, createdAt: string };

export type UserListFragment = { totalCount: number, isTotalLimited: boolean, isLimited: boolean, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: UserRowFragment }> };

export type UsersQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  filter?: UserFilter | null | undefined;
  orderBy?: UserOrder | null | undefined;
  direction?: Direction | null | undefined;
  after?: string | null | undefined;
}>;


export type UsersQuery = { users: UserListFragment };

export type CountUsersQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  filter?: UserFilter | null | undefined;
}>;


export type CountUsersQuery = { users: { totalCount: number } };

export type MatchingUsersQueryVariables = Exact<{
  projectId: string;
  search?: string | null | undefined;
  filter?: UserFilter | null | undefined;
  after?: string | null | undefined;
  exact: boolean;
}>;


export type MatchingUsersQuery = { users: { totalCount: number, isLimited: boolean, pageInfo: { hasNextPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, userName: string, displayName: string | null } }> } };

export type UserDetailsFragment = (
  { subject: string | null, givenName: string | null, familyName: string | null, locale: string | null, zoneinfo: string | null, birthdate: string | null, updatedAt: string, address: { formatted: string | null, streetAddress: string | null, locality: string | null, region: string | null, postalCode: string | null, country: string | null } | null }
  & UserRowFragment
);

export type UserByIdQueryVariables = Exact<{
  id: string;
}>;


export type UserByIdQuery = { user: UserDetailsFragment | null };

export type UserAccessPartsFragment = { mayImpersonate: boolean, recoveryCodesLeft: number, sessionCount: number, deviceCount: number, recovery: { reason: string, createdAt: string, usableAt: string, expiresAt: string } | null, deletion: { createdAt: string, dueAt: string } | null, sessions: Array<{ id: string, amr: Array<string>, authTime: string, createdAt: string, lastSeenAt: string, idleExpiresAt: string, expiresAt: string, ip: string | null, userAgent: string | null, deviceId: string | null, impersonationReason: string | null }>, devices: Array<{ id: string, name: string, remembered: boolean, trustedUntil: string | null, createdAt: string, lastUsedAt: string, userAgent: string | null, client: { id: string, name: string } }>, passkeys: Array<{ id: string, name: string, aaguid: string, attested: boolean, synced: boolean, userVerified: boolean, createdAt: string, lastUsedAt: string }>, consents: Array<{ id: string, scopes: Array<string>, createdAt: string, updatedAt: string, client: { id: string, name: string } }>, factors: Array<{ id: string, method: MfaMethod, phone: string | null, verifiedAt: string, lastUsedAt: string | null }> };

export type UserAccessQueryVariables = Exact<{
  userId: string;
}>;


export type UserAccessQuery = { userAccess: UserAccessPartsFragment };

export type UserPageQueryVariables = Exact<{
  projectId: string;
  userId: string;
}>;


export type UserPageQuery = { user: (
    UserDetailsFragment
    & CustomValuesFragment
  ) | null, userAccess: UserAccessPartsFragment, auditEvents: EventListFragment, groups: GroupNamesFragment, refreshGrants: GrantListFragment, userRoles: Array<HeldRoleFragment>, userKeys: Array<UserKeyRowFragment>, userApplications: ApplicationsOfUserFragment };

export type ApplicationsOfUserFragment = { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { client: { id: string, name: string }, through: Array<{ id: string, group: { id: string, displayName: string } | null, organization: { id: string, name: string } | null, role: { id: string, name: string } | null }> } }> };

export type UserApplicationsQueryVariables = Exact<{
  userId: string;
  after?: string | null | undefined;
}>;


export type UserApplicationsQuery = { userApplications: ApplicationsOfUserFragment };

export type OrganizationsOfUserQueryVariables = Exact<{
  userId: string;
  after?: string | null | undefined;
}>;


export type OrganizationsOfUserQuery = { user: { id: string, organizationMemberships: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: { id: string, state: OrganizationMembershipState, createdAt: string, organization: { id: string, name: string, state: OrganizationState }, roles: Array<{ id: string, name: string }> } }> } } | null };

export type UserHoldingsQueryVariables = Exact<{
  userId: string;
}>;


export type UserHoldingsQuery = { userHoldings: { sessions: number, devices: number, passkeys: number, secondFactors: number, recoveryCodes: number, groups: number, messages: number, events: number, adminRoles: number } };

export type ChangeUsersMutationVariables = Exact<{
  input: ChangeUsersInput;
}>;


export type ChangeUsersMutation = { changeUsers: Array<{ userId: string, done: boolean, code: string | null, message: string | null }> };

export type EndUserSessionMutationVariables = Exact<{
  id: string;
}>;


export type EndUserSessionMutation = { endUserSession: string };

export type RevokeUserDeviceMutationVariables = Exact<{
  id: string;
}>;


export type RevokeUserDeviceMutation = { revokeUserDevice: string };

export type RevokeUserPasskeyMutationVariables = Exact<{
  id: string;
}>;


export type RevokeUserPasskeyMutation = { revokeUserPasskey: string };

export type GrantUserRecoveryMutationVariables = Exact<{
  input: GrantUserRecoveryInput;
}>;


export type GrantUserRecoveryMutation = { grantUserRecovery: { code: string, usableAt: string, expiresAt: string } };

export type CancelUserRecoveryMutationVariables = Exact<{
  userId: string;
}>;


export type CancelUserRecoveryMutation = { cancelUserRecovery: string };

export type CancelUserDeletionMutationVariables = Exact<{
  userId: string;
}>;


export type CancelUserDeletionMutation = { cancelUserDeletion: string };

export type UpdateUserMutationVariables = Exact<{
  input: UpdateUserInput;
}>;


export type UpdateUserMutation = { updateUser: { id: string } };

export type CreateUserMutationVariables = Exact<{
  input: CreateUserInput;
}>;


export type CreateUserMutation = { createUser: { id: string, userName: string } };

export type RevokeConsentMutationVariables = Exact<{
  id: string;
}>;


export type RevokeConsentMutation = { revokeConsent: string };

export type WebhookRowFragment = { id: string, host: string, description: string, types: Array<string>, disabledReason: WebhookDisabledReason | null, failures: number, failingSince: string | null, lastDeliveredAt: string | null, secretCreatedAt: string, previousSecretUntil: string | null, pending: number, failed: number, createdAt: string };

export type WebhookDeliveryRowFragment = { id: string, eventId: string, type: string, state: WebhookDeliveryState, createdAt: string, nextAttemptAt: string | null, attempts: Array<{ at: string, status: number | null, error: string | null, durationMs: number }> };

export type WebhooksQueryVariables = Exact<{
  projectId: string;
}>;


export type WebhooksQuery = { webhooks: Array<WebhookRowFragment> };

export type WebhookByIdQueryVariables = Exact<{
  id: string;
}>;


export type WebhookByIdQuery = { webhook: WebhookRowFragment };

export type WebhookUrlQueryVariables = Exact<{
  id: string;
}>;


export type WebhookUrlQuery = { webhookUrl: string };

export type WebhookPageQueryVariables = Exact<{
  id: string;
}>;


export type WebhookPageQuery = { webhookUrl: string, webhook: WebhookRowFragment };

export type WebhookDeliveriesQueryVariables = Exact<{
  webhookId: string;
  filter?: WebhookDeliveryFilter | null | undefined;
  first: number;
  after?: string | null | undefined;
}>;


export type WebhookDeliveriesQuery = { webhookDeliveries: { pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, endCursor: string | null }, edges: Array<{ node: WebhookDeliveryRowFragment }> } };

export type WebhookPayloadQueryVariables = Exact<{
  id: string;
}>;


export type WebhookPayloadQuery = { webhookDelivery: { id: string, payload: Record<string, unknown> | null } };

export type CreateWebhookMutationVariables = Exact<{
  input: CreateWebhookInput;
}>;


export type CreateWebhookMutation = { createWebhook: { secret: string, webhook: WebhookRowFragment } };

export type UpdateWebhookMutationVariables = Exact<{
  input: UpdateWebhookInput;
}>;


export type UpdateWebhookMutation = { updateWebhook: WebhookRowFragment };

export type DeleteWebhookMutationVariables = Exact<{
  id: string;
}>;


export type DeleteWebhookMutation = { deleteWebhook: string };

export type RotateWebhookSecretMutationVariables = Exact<{
  id: string;
}>;


export type RotateWebhookSecretMutation = { rotateWebhookSecret: { secret: string, webhook: WebhookRowFragment } };

export type TestWebhookMutationVariables = Exact<{
  id: string;
}>;


export type TestWebhookMutation = { testWebhook: WebhookDeliveryRowFragment };

export type ReplayWebhookDeliveryMutationVariables = Exact<{
  id: string;
}>;


export type ReplayWebhookDeliveryMutation = { replayWebhookDelivery: WebhookDeliveryRowFragment };

export type ReplayFailedWebhookDeliveriesMutationVariables = Exact<{
  webhookId: string;
}>;


export type ReplayFailedWebhookDeliveriesMutation = { replayFailedWebhookDeliveries: number };

export type ProjectSwitchesFragment = { blocksDisposableMail: boolean, signUpMails: boolean, accountDeletion: boolean, emailFactor: boolean, organizationsEnabled: boolean, impersonation: boolean, impersonationNotices: boolean };

export type ClientSwitchesFragment = { pkceRequired: boolean, relatedOrigins: boolean, passkeyRequired: boolean, loginHintChecked: boolean, thirdParty: boolean, dpopRequired: boolean, dpopNonceRequired: boolean, pushedRequestsRequired: boolean, fapiProfile: boolean, organizationRequired: boolean, samlRequestsSigned: boolean, samlIdpInitiated: boolean };
