import { sql } from '../../domain/kernel/sql.ts';
import { userNameKey } from '../../domain/users/login.ts';
import { enterpriseUrn, managerName } from '../../domain/users/manager.ts';
import type { Attribute, Schema } from './attribute.ts';

const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  description,
  ...more,
});

const display = text('display', 'A name for people, primarily for display.');
const primary: Attribute = {
  name: 'primary',
  type: 'boolean',
  description: 'Whether this is the preferred value. True at most once.',
  absentMeans: false,
};
const type = (of: string, canonicalValues: readonly string[] = []): Attribute =>
  text('type', `The kind of ${of}.`, canonicalValues.length > 0 ? { canonicalValues } : {});

const several = (name: string, description: string, subAttributes: readonly Attribute[]): Attribute => ({
  name,
  type: 'complex',
  multiValued: true,
  description,
  subAttributes,
});

const notBlank = (value: string) => (userNameKey(value) === '' ? 'must not be blank' : undefined);
const oneLine = (value: string) =>
  /[\p{Cc}\u2028\u2029]/u.test(value) ? 'must not contain control characters' : undefined;
const base64 = (value: string) =>
  /^[A-Za-z0-9+/_-]*={0,2}$/.test(value.replace(/[\r\n]/g, '')) ? undefined : 'must be base64';

const names: readonly Attribute[] = [
  text('formatted', 'The full name, with all titles, as it is displayed.'),
  text('familyName', 'The family name, or last name.', { storage: { kind: 'text', value: 'r.family_name' } }),
  text('givenName', 'The given name, or first name.', { storage: { kind: 'text', value: 'r.given_name' } }),
  text('middleName', 'The middle name or names.'),
  text('honorificPrefix', 'The title before the name, such as Ms.'),
  text('honorificSuffix', 'The suffix after the name, such as III.'),
];

const postal: readonly Attribute[] = [
  text('formatted', 'The full mailing address, with lines separated by newlines.'),
  text('streetAddress', 'Street name and house number.'),
  text('locality', 'The city.'),
  text('region', 'The state or region.'),
  text('postalCode', 'The postal code.'),
  text('country', 'The country, in two letters (ISO 3166-1).'),
  type('address', ['work', 'home', 'other']),
  primary,
];

/** RFC 7643 §4.1, without `password`, which this service never stores. */
export const userSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'User Account',
  attributes: [
    text('userName', 'The identifier with which the user is known to the directory; unique without regard to case.', {
      required: true,
      uniqueness: 'server',
      maxLength: 256,
      check: (value) => notBlank(value) ?? oneLine(value),
      storage: { kind: 'text', value: 'r.user_name', folded: { sql: 'r.user_name_key', by: 'name' } },
    }),
    { name: 'name', type: 'complex', description: 'The parts of the name.', subAttributes: names },
    text('displayName', 'The name for display.', {
      maxLength: 512,
      storage: { kind: 'text', value: 'r.display_name' },
    }),
    text('nickName', 'The casual way to address the user.'),
    {
      name: 'profileUrl',
      type: 'reference',
      description: 'The address of a profile page.',
      referenceTypes: ['external'],
      caseExact: true,
    },
    text('title', 'The title, such as Vice President.'),
    text('userType', 'The relation to the organization, such as Employee.'),
    text('preferredLanguage', 'The preferred languages, as in Accept-Language.'),
    text('locale', 'The language and region for formats, such as en-US.'),
    text('timezone', 'The time zone, such as Europe/Zurich.'),
    {
      name: 'active',
      type: 'boolean',
      description: 'False blocks sign-in, and ends sessions and tokens.',
      storage: { kind: 'boolean', value: `case when r.attributes->'activeUnassigned' is null then r.active end` },
    },
    {
      ignoresCase: true,
      ...several('emails', 'Email addresses. The login email is the primary one, else of type work, else the first.', [
        text('value', 'The address. That of the login email is unique, and must be valid.', {
          uniqueness: 'server',
          maxLength: 254,
        }),
        display,
        type('address', ['work', 'home', 'other']),
        primary,
      ]),
    },
    several(
      'phoneNumbers',
      'Phone numbers. The login phone: the primary one in E.164 form, else mobile, else the first.',
      [
        text('value', 'The number. That of the login phone is unique among primary and mobile numbers.', {
          uniqueness: 'server',
          maxLength: 64,
        }),
        display,
        type('number', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
        primary,
      ],
    ),
    several('ims', 'Instant messaging addresses.', [text('value', 'The address.'), display, type('service'), primary]),
    several('photos', 'Addresses of pictures.', [
      {
        name: 'value',
        type: 'reference',
        description: 'The address of the picture.',
        referenceTypes: ['external'],
        caseExact: true,
        maxLength: 65_536,
      },
      display,
      type('picture', ['photo', 'thumbnail']),
      primary,
    ]),
    several('addresses', 'Postal addresses. The primary one, else the first, feeds the address claim.', postal),
    {
      name: 'groups',
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      description: 'The groups of the user; read-only, change the groups instead.',
      storage: {
        kind: 'elements',
        from: sql`(select m.group_id, g.display_name from group_members m
          join groups g on g.project_id = m.project_id and g.id = m.group_id
          where m.project_id = r.project_id and m.user_id = r.id) e`,
      },
      subAttributes: [
        text('value', 'The id of the group.', {
          mutability: 'readOnly',
          caseExact: true,
          storage: { kind: 'uuid', value: 'e.group_id' },
        }),
        {
          name: '$ref',
          type: 'reference',
          description: 'The address of the group.',
          mutability: 'readOnly',
          caseExact: true,
          referenceTypes: ['Group'],
          storage: { kind: 'location', id: 'e.group_id', resourceType: 'Group' },
        },
        text('display', 'The name of the group.', {
          mutability: 'readOnly',
          storage: { kind: 'text', value: 'e.display_name' },
        }),
        text('type', 'How the user belongs to it.', {
          mutability: 'readOnly',
          canonicalValues: ['direct'],
          storage: { kind: 'text', value: `'direct'::text` },
        }),
      ],
    },
    several('entitlements', 'Entitlements of the user. One that names a resource of /Entitlements assigns it.', [
      text('value', 'The entitlement.'),
      display,
      type('entitlement'),
      primary,
    ]),
    several('roles', 'The roles of the user. One that names a resource of /Roles assigns it.', [
      text('value', 'The role.'),
      display,
      type('role'),
      primary,
    ]),
    several('x509Certificates', 'Certificates, each DER in base64.', [
      {
        name: 'value',
        type: 'binary',
        description: 'The certificate.',
        caseExact: true,
        maxLength: 65_536,
        check: base64,
      },
      display,
      type('certificate'),
      primary,
    ]),
  ],
};

/** RFC 7643 §4.3. */
export const enterpriseSchema: Schema = {
  id: enterpriseUrn,
  name: 'EnterpriseUser',
  description: 'Enterprise User',
  attributes: [
    text('employeeNumber', 'A number or text that the organization assigns to the user.'),
    text('costCenter', 'The cost center.'),
    text('organization', 'The organization.'),
    text('division', 'The division.'),
    text('department', 'The department.'),
    {
      name: 'manager',
      type: 'complex',
      description: 'The manager.',
      subAttributes: [
        text('value', 'The id of the manager.', { caseExact: true }),
        {
          name: '$ref',
          type: 'reference',
          description: 'The address of the manager.',
          caseExact: true,
          referenceTypes: ['User'],
        },
        text('displayName', 'The displayName of the manager, if that is a user of this project.', {
          mutability: 'readOnly',
          storage: { kind: 'text', value: managerName },
        }),
      ],
    },
  ],
};
