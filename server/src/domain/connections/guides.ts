import { type Connection, type ConnectionKind, settingsOf } from './connection.entity.ts';

/** Settings at a provider, and values that it shows. */
export type GuideField =
  | 'redirectUri'
  | 'issuer'
  | 'clientId'
  | 'clientSecret'
  | 'scopes'
  | 'acsUrl'
  | 'entityId'
  | 'nameId'
  | 'attributes'
  | 'signature'
  | 'encryption'
  | 'metadata';

/** The way through the screens of a provider, in its own words. */
export interface Guide {
  /** Where its application is created, screen by screen. */
  place: readonly string[];
  labels: Readonly<Partial<Record<GuideField, string>>>;
  /** Attributes that it sends by a setting: their name, and the value that is chosen there. */
  attributes?: readonly (readonly [name: string, source: string])[];
}

const persistent = 'Persistent';
const usual = (email: string, first: string, last: string) =>
  [
    ['email', email],
    ['given_name', first],
    ['family_name', last],
  ] as const;

const guides: Readonly<Record<string, Readonly<Partial<Record<ConnectionKind, Guide>>>>> = {
  okta: {
    oidc: {
      place: ['Applications', 'Create App Integration', 'OIDC - OpenID Connect', 'Web Application'],
      labels: { redirectUri: 'Sign-in redirect URIs', clientId: 'Client ID', clientSecret: 'Client secrets' },
    },
    saml: {
      place: ['Applications', 'Create App Integration', 'SAML 2.0'],
      labels: {
        ...{ acsUrl: 'Single sign-on URL', entityId: 'Audience URI (SP Entity ID)', nameId: 'Name ID format' },
        ...{ attributes: 'Attribute Statements', metadata: 'Sign On, Metadata URL', signature: 'Signature Algorithm' },
        encryption: 'Assertion Encryption',
      },
      attributes: usual('user.email', 'user.firstName', 'user.lastName'),
    },
  },
  entra: {
    oidc: {
      place: ['App registrations', 'New registration', 'Accounts in this organizational directory only', 'Web'],
      labels: {
        ...{ redirectUri: 'Authentication, Web, Redirect URIs', clientId: 'Application (client) ID' },
        ...{ clientSecret: 'Certificates & secrets, Client secrets, Value', issuer: 'Directory (tenant) ID' },
        scopes: 'Token configuration, Optional claims',
      },
    },
    saml: {
      place: ['Enterprise applications', 'New application', 'Create your own application', 'Single sign-on', 'SAML'],
      labels: {
        ...{ acsUrl: 'Reply URL (Assertion Consumer Service URL)', entityId: 'Identifier (Entity ID)' },
        ...{ nameId: 'Unique User Identifier (Name ID)', attributes: 'Attributes & Claims' },
        ...{ metadata: 'App Federation Metadata Url', signature: 'SAML Signing Certificate, Signing Option' },
        encryption: 'Token encryption',
      },
      attributes: usual('user.mail', 'user.givenname', 'user.surname'),
    },
  },
  google: {
    oidc: {
      place: [
        'Google Cloud console',
        'APIs & Services',
        'Credentials',
        'Create credentials',
        'OAuth client ID',
        'Web application',
      ],
      labels: { redirectUri: 'Authorized redirect URIs', clientId: 'Client ID', clientSecret: 'Client secret' },
    },
    saml: {
      place: ['Admin console', 'Apps', 'Web and mobile apps', 'Add app', 'Add custom SAML app'],
      labels: {
        ...{ acsUrl: 'ACS URL', entityId: 'Entity ID', nameId: 'Name ID format' },
        ...{ attributes: 'Attribute mapping', metadata: 'Download metadata', signature: 'Signed response' },
      },
      attributes: usual('Primary email', 'First name', 'Last name'),
    },
  },
  onelogin: {
    oidc: {
      place: ['Applications', 'Add App', 'OpenId Connect (OIDC)'],
      labels: {
        ...{ redirectUri: 'Configuration, Redirect URIs', clientId: 'SSO, Client ID' },
        ...{ clientSecret: 'SSO, Client Secret', issuer: 'SSO, Issuer URL' },
      },
    },
    saml: {
      place: ['Applications', 'Add App', 'SAML Custom Connector (Advanced)'],
      labels: {
        ...{
          acsUrl: 'ACS (Consumer) URL, and Recipient',
          entityId: 'Audience (EntityID)',
          nameId: 'SAML nameID format',
        },
        ...{ attributes: 'Parameters', metadata: 'More Actions, SAML Metadata', signature: 'SAML signature element' },
        encryption: 'Encrypt assertion',
      },
      attributes: usual('Email', 'First Name', 'Last Name'),
    },
  },
  jumpcloud: {
    oidc: {
      place: ['SSO Applications', 'Add New Application', 'Custom Application', 'Configure SSO with OIDC'],
      labels: { redirectUri: 'Redirect URIs', clientId: 'Client ID', clientSecret: 'Client Secret' },
    },
    saml: {
      place: ['SSO Applications', 'Add New Application', 'Custom Application', 'Configure SSO with SAML'],
      labels: {
        ...{ acsUrl: 'ACS URLs', entityId: 'SP Entity ID', nameId: 'SAMLSubject NameID Format' },
        ...{ attributes: 'User Attribute Mapping', metadata: 'Copy Metadata URL', signature: 'Sign' },
      },
      attributes: usual('email', 'firstname', 'lastname'),
    },
  },
  pingone: {
    oidc: {
      place: ['Applications', 'Add', 'OIDC Web App'],
      labels: {
        ...{ redirectUri: 'Redirect URIs', clientId: 'Client ID', clientSecret: 'Client Secret', issuer: 'Issuer ID' },
        scopes: 'Resources',
      },
    },
    saml: {
      place: ['Applications', 'Add', 'SAML Application', 'Manually Enter'],
      labels: {
        ...{ acsUrl: 'ACS URLs', entityId: 'Entity ID', nameId: 'Subject NameID Format' },
        ...{ attributes: 'Attribute Mappings', metadata: 'IDP Metadata URL', signature: 'Signing Key' },
        encryption: 'Enable Encryption',
      },
      attributes: usual('Email Address', 'Given Name', 'Family Name'),
    },
  },
  keycloak: {
    oidc: {
      place: ['Clients', 'Create client', 'OpenID Connect', 'Client authentication: On'],
      labels: { redirectUri: 'Valid redirect URIs', clientId: 'Client ID', clientSecret: 'Credentials, Client Secret' },
    },
    saml: {
      place: ['Clients', 'Create client', 'SAML'],
      labels: {
        ...{ acsUrl: 'Assertion Consumer Service POST Binding URL, and Valid redirect URIs', entityId: 'Client ID' },
        ...{ nameId: 'Name ID format', attributes: 'Client scopes, dedicated, Add mapper, User Property' },
        ...{ metadata: 'Realm settings, SAML 2.0 Identity Provider Metadata', signature: 'Sign assertions' },
        encryption: 'Keys, Encrypt assertions',
      },
      attributes: usual('email', 'firstName', 'lastName'),
    },
  },
  adfs: {
    saml: {
      place: ['Relying Party Trusts', 'Add Relying Party Trust', 'Claims aware'],
      labels: {
        ...{ acsUrl: 'Endpoints, SAML Assertion Consumer', entityId: 'Relying party trust identifiers' },
        ...{
          nameId: 'Claim Issuance Policy, Name ID',
          attributes: 'Claim Issuance Policy, Send LDAP Attributes as Claims',
        },
        ...{
          metadata: 'Endpoints, /FederationMetadata/2007-06/FederationMetadata.xml',
          signature: 'Advanced, Secure hash algorithm',
        },
        encryption: 'Encryption',
      },
      attributes: [
        ['E-Mail Address', 'E-Mail-Addresses'],
        ['Given Name', 'Given-Name'],
        ['Surname', 'Surname'],
      ],
    },
  },
  auth0: {
    oidc: {
      place: ['Applications', 'Create Application', 'Regular Web Applications'],
      labels: {
        redirectUri: 'Allowed Callback URLs',
        clientId: 'Client ID',
        clientSecret: 'Client Secret',
        issuer: 'Domain',
      },
    },
    saml: {
      place: ['Applications', 'Create Application', 'Regular Web Applications', 'Addons', 'SAML2 Web App'],
      labels: {
        ...{ acsUrl: 'Application Callback URL', entityId: 'Settings, audience' },
        ...{ nameId: 'Settings, nameIdentifierFormat', attributes: 'Settings, mappings' },
        ...{ metadata: 'Usage, Identity Provider Metadata', signature: 'Settings, signatureAlgorithm' },
      },
      attributes: usual('email', 'given_name', 'family_name'),
    },
  },
  gitlab: {
    oidc: {
      place: ['Preferences', 'Applications', 'Add new application'],
      labels: { redirectUri: 'Redirect URI', clientId: 'Application ID', clientSecret: 'Secret', scopes: 'Scopes' },
    },
  },
  microsoft: {
    oidc: {
      place: ['App registrations', 'New registration', 'Personal Microsoft accounts only'],
      labels: {
        ...{ redirectUri: 'Authentication, Web, Redirect URIs', clientId: 'Application (client) ID' },
        clientSecret: 'Certificates & secrets, Client secrets, Value',
      },
    },
  },
};

/** By the names of the standards. */
const generic: Readonly<Record<ConnectionKind, Guide>> = {
  oidc: {
    place: [],
    labels: {
      ...{ redirectUri: 'redirect_uri', clientId: 'client_id', clientSecret: 'client_secret', issuer: 'issuer' },
      scopes: 'scope',
    },
  },
  saml: {
    place: [],
    labels: {
      ...{
        acsUrl: 'AssertionConsumerService',
        entityId: 'entityID',
        nameId: 'NameID format',
        attributes: 'Attributes',
      },
      ...{ metadata: 'Metadata', signature: 'Signature', encryption: 'Encryption' },
    },
    attributes: usual('mail', 'givenName', 'sn'),
  },
};

/** Presets of providers with SAML. */
export const samlPresets = ['generic', ...Object.keys(guides).filter((name) => guides[name]?.saml !== undefined)];

/** The screens of the provider of a connection; those of the standard for others. */
export function guideOf({ kind, preset }: Pick<Connection, 'kind' | 'preset'>): Guide {
  return guides[preset]?.[kind] ?? generic[kind];
}

/** What to enter at the provider: its label, and the value. */
export function enteredAt(
  connection: Connection,
  callback: { redirectUri: string | null; acsUrl: string | null; entityId: string | null },
): { label: string; value: string }[] {
  const { attributes = [], labels } = guideOf(connection);
  const nameIds = { persistent, email: 'EmailAddress', any: null };
  const values: [GuideField, string | null][] = [
    ['redirectUri', callback.redirectUri],
    ['acsUrl', callback.acsUrl],
    ['entityId', callback.entityId],
    ['nameId', connection.kind === 'saml' ? nameIds[settingsOf(connection, 'saml').nameId] : null],
  ];
  const entered = values.flatMap(([field, value]) => {
    const label = labels[field];
    return label === undefined || value === null ? [] : [{ label, value }];
  });
  const mapped = attributes.map(([name, source]) => ({ label: `${labels.attributes ?? ''}: ${name}`, value: source }));
  return [...entered, ...mapped];
}

/** Where the provider shows what the connection needs: its label, and the input of the admin API. */
export function copiedFrom(connection: Pick<Connection, 'kind' | 'preset'>): { label: string; value: string }[] {
  const { labels } = guideOf(connection);
  const inputs: [GuideField, string][] =
    connection.kind === 'saml'
      ? [['metadata', 'saml.metadataUrl']]
      : [
          ['issuer', 'oidc.issuer'],
          ['clientId', 'oidc.clientId'],
          ['clientSecret', 'oidc.clientSecret'],
        ];
  return inputs.flatMap(([field, value]) => {
    const label = labels[field];
    return label === undefined ? [] : [{ label, value }];
  });
}
