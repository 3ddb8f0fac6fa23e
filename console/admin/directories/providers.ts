import { t } from '../language/language.ts';
import { customUrn } from './custom-urn.ts';

/** One setup step in the directory's own console. */
export interface ProviderStep {
  text: string;
  /** Values to copy there. */
  values?: readonly ('address' | 'token')[];
  /** Settings as the directory's page names them. */
  settings?: readonly (readonly [name: string, value: string])[];
  /** Not shown in the set-up portal, which is generated from these steps. */
  forAdmins?: true;
}

export interface Provider {
  id: string;
  name: string;
  steps: readonly ProviderStep[];
  /** Provider-specific note. */
  note?: string;
}

/** Supported directories, each with its own terms. */
export const providers: readonly Provider[] = [
  {
    id: 'okta',
    name: 'Okta',
    steps: [
      {
        text: t(
          'In the Okta admin console, open the application your users sign in with (or create one), and on the General tab turn on “SCIM provisioning”.',
        ),
      },
      {
        text: t('On the Provisioning tab, edit “SCIM connection” and fill in:'),
        values: ['address', 'token'],
        settings: [
          [t('Unique identifier field for users'), 'userName'],
          [t('Supported provisioning actions'), t('Push New Users, Push Profile Updates, Push Groups')],
          [t('Authentication mode'), 'HTTP Header'],
        ],
      },
      { text: t('Press “Test connector configuration”, then “Save”.') },
      {
        text: t(
          'Under Provisioning → To App, turn on “Create Users”, “Update User Attributes” and “Deactivate Users”.',
        ),
      },
      { text: t('On the Assignments tab, assign yourself first. The requests appear here within seconds.') },
      {
        text: t(
          'For a custom attribute: open Directory → Profile Editor, choose the profile of this application, and press “Add Attribute”. The form asks for the data type at the top and the names below it. Then press “Mappings”, and drag the value of the Okta user to the new attribute.',
        ),
        settings: [
          [t('Data type'), t('as here: string, number (decimal), integer, boolean, string array')],
          [t('Variable name, External name'), t('the name of the attribute, such as badge')],
          [t('External namespace'), customUrn],
        ],
        forAdmins: true,
      },
    ],
    note: t('Okta deactivates users instead of deleting them: unassigned users stay in the list and cannot sign in.'),
  },
  {
    id: 'entra',
    name: 'Microsoft Entra ID',
    steps: [
      {
        text: t(
          'In the Entra admin center, open Enterprise applications → New application → Create your own, “Integrate any other application”.',
        ),
      },
      {
        text: t('Open Provisioning, set the mode to Automatic, and fill in the admin credentials:'),
        values: ['address', 'token'],
        settings: [
          [t('Tenant URL'), t('the SCIM address')],
          [t('Secret token'), t('the token')],
        ],
      },
      { text: t('Press “Test connection”, then “Save”.') },
      {
        text: t('Under Mappings → Provision Microsoft Entra ID Users, check:'),
        settings: [
          ['userPrincipalName', 'userName'],
          ['objectId', 'externalId'],
          ['Switch([IsSoftDeleted], …)', 'active'],
          ['mail', 'emails[type eq "work"].value'],
        ],
      },
      {
        text: t(
          'For a custom attribute: below the list of mappings, tick “Show advanced options” and open “Edit attribute list for customappsso”. In the last, empty row of the table, enter the name and choose the type; press “Save”. Back in the list, press “Add New Mapping”: the source is the attribute in Entra ID, the target is the new name.',
        ),
        settings: [
          [t('Name'), `${customUrn}:badge`],
          [t('Type'), t('String, Boolean, Integer or DateTime; no lists and no complex values')],
          [t('Mapping type'), t('Direct')],
        ],
        forAdmins: true,
      },
      {
        text: t(
          'Assign people under Users and groups, then press “Provision on demand” with yourself. The regular cycle runs every 40 minutes.',
        ),
      },
    ],
  },
  {
    id: 'onelogin',
    name: 'OneLogin',
    steps: [
      { text: t('In OneLogin, add the application “SCIM Provisioner with SAML (SCIM v2 Core)”.') },
      {
        text: t('On the Configuration tab, fill in and enable the API connection:'),
        values: ['address', 'token'],
        settings: [
          ['SCIM Base URL', t('the SCIM address')],
          ['SCIM Bearer Token', t('the token')],
        ],
      },
      {
        text: t(
          'On the Provisioning tab, turn on “Enable provisioning”, and choose the action for removed users: “Suspend” or “Delete”.',
        ),
      },
      { text: t('Assign the application to yourself under Users, and approve the pending provisioning.') },
    ],
  },
  {
    id: 'jumpcloud',
    name: 'JumpCloud',
    steps: [
      { text: t('In JumpCloud, open SSO Applications → your application → Identity Management.') },
      {
        text: t('Choose “SCIM API”, version 2.0, and fill in:'),
        values: ['address', 'token'],
        settings: [
          [t('Base URL'), t('the SCIM address')],
          [t('Token key'), t('the token')],
        ],
      },
      { text: t('Press “Test connection”, then “Activate”.') },
      { text: t('Give a user group access to the application: requests for its members appear here.') },
    ],
  },
  {
    id: 'other',
    name: t('Another directory'),
    steps: [
      {
        text: t('Any SCIM 2.0 client (RFC 7644) works. It needs an address and a bearer token:'),
        values: ['address', 'token'],
        settings: [
          [t('Content type'), 'application/scim+json'],
          [t('Unique identifier'), t('userName; externalId is stored unchanged')],
          [t('Custom attributes'), t('{urn}, as in /Schemas', { urn: customUrn })],
          [t('Page size'), t('at most 100 (count), by startIndex or by cursor')],
        ],
      },
      {
        text: t(
          'Read ServiceProviderConfig first: it lists supported features (PATCH, bulk, filters, sorting, ETags).',
        ),
      },
      { text: t('Create one user; it appears under Users.'), forAdmins: true },
    ],
  },
];
