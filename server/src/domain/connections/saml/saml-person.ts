import { seconds } from '../../kernel/clock.ts';
import type { Answer } from '../../saml/messages/answer.ts';
import { nameIdFormats, skewSeconds } from '../../saml/names.ts';
import type { ProfileMappings, SamlSettings } from '../connection.entity.ts';
import { personOf } from '../upstream-person.ts';
import type { UpstreamPerson } from '../upstream-request.entity.ts';

/** Usual names of attributes, in lower case, by ours. */
const usualNames: Readonly<Record<string, readonly string[]>> = {
  email: [
    ...[
      'email',
      'mail',
      'emailaddress',
      'user.email',
      'urn:oid:0.9.2342.19200300.100.1.3',
      'urn:oid:1.2.840.113549.1.9.1',
    ],
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  ],
  given_name: [
    ...['given_name', 'givenname', 'firstname', 'user.firstname', 'urn:oid:2.5.4.42'],
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
  ],
  family_name: [
    ...['family_name', 'familyname', 'lastname', 'surname', 'sn', 'user.lastname', 'urn:oid:2.5.4.4'],
    'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname',
  ],
  name: [
    ...['name', 'displayname', 'cn', 'urn:oid:2.16.840.1.113730.3.1.241'],
    'http://schemas.microsoft.com/identity/claims/displayname',
  ],
  locale: ['locale', 'preferredlanguage', 'urn:oid:2.16.840.1.113730.3.1.39'],
};

const maxAttributes = 100;

/**
 * The first value of each attribute by its name, and those with usual names also by the names of OpenID Connect, which are the default of
 * mappings. The name of an attribute takes precedence.
 */
export function claimsOf({ attributes }: Pick<Answer, 'attributes'>): Record<string, string> {
  const values = attributes
    .slice(0, maxAttributes)
    .flatMap(({ name, values: [value] }) => (value === undefined ? [] : [[name, value] as const]));
  const usual = Object.entries(usualNames).flatMap(([ours, names]) => {
    const found = values.find(([name]) => names.includes(name.toLowerCase()));
    return found ? [[ours, found[1]] as const] : [];
  });
  return Object.fromEntries([...usual, ...values]);
}

/** Maps a verified assertion. The subject is the NameID with its format: the same value in another format is another account. */
export function samlPersonOf(
  answer: Answer,
  settings: Pick<SamlSettings, 'entityId' | 'emailAttribute' | 'vouchesForEmail'>,
  mappings: ProfileMappings,
): UpstreamPerson {
  const { authTime, contextClass, sessionUntil, subject } = answer;
  const claims = claimsOf(answer);
  const { emailAttribute, vouchesForEmail } = settings;
  const ofNameId = subject.format === nameIdFormats.email ? subject.value : undefined;
  const email = emailAttribute === null ? (claims['email'] ?? ofNameId) : claims[emailAttribute];
  const person = personOf(
    {
      ...claims,
      email,
      email_verified: vouchesForEmail || undefined,
      amr: [],
      acr: contextClass,
      auth_time: seconds(authTime),
    },
    { issuer: settings.entityId, subject: `${subject.format} ${subject.value}`, mappings },
  );
  return { ...person, ...(sessionUntil && { sessionUntil: seconds(sessionUntil) + skewSeconds }) };
}
