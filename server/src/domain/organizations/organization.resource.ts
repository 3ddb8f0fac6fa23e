import { cleanName } from '../kernel/name.ts';
import { choice, flag, json, number, type SettingsOf, text } from '../kernel/resource.ts';
import { sessionPolicyFields } from '../projects/project.resource.ts';
import { checkedSlug } from './organization-values.ts';

const organizationStates = ['active', 'suspended'] as const;
/** How members sign in: by any method of the project, or by a connection of the organization. */
const signInMethods = ['any', 'connection'] as const;
const organizationMfaPolicies = ['required'] as const;
/** What happens to users whose login address is in a verified domain: nothing, a request, or a membership. */
const domainJoins = ['off', 'ask', 'on'] as const;

/**
 * Settings of organizations, in the order of their documents.
 */
export const organizationFields = {
  slug: text({
    ...{ check: (slug, field) => checkedSlug(slug, field), sensitive: false },
    says: 'Unique in the project; `organization` of authorization requests.',
    input: '1 to 63 lower-case letters, digits and hyphens; begins with a letter or digit.',
  }),
  name: text({ check: (name) => cleanName(name), sensitive: false }),
  state: choice(
    { name: 'OrganizationState', says: 'The state of an organization.', values: organizationStates },
    {
      ...{ default: 'active', inputs: 'change', sensitive: true },
      input: 'SUSPENDED: members cannot sign in to it, and their tokens in it end.',
    },
  ),
  signIn: choice(
    { name: 'OrganizationSignIn', says: 'How members of an organization sign in.', values: signInMethods },
    {
      ...{ default: 'any', sensitive: true },
      says: "CONNECTION: only by the organization's identity provider, also people with an address in its mail domains.",
    },
  ),
  /** Only where `signIn` is `connection`. */
  fallback: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether a mail code may replace a required connection that cannot be reached.',
  }),
  mfaPolicy: choice(
    { name: 'OrganizationMfaPolicy', says: 'Second factors in an organization.', values: organizationMfaPolicies },
    {
      ...{ default: null, clearable: true, sensitive: true },
      says: "Absent: the project's policy.",
      input: "Null: the project's policy.",
    },
  ),
  idleTimeoutSeconds: number({
    ...{ default: null, clearable: true, unit: 'seconds', bounds: sessionPolicyFields.idleTimeoutSeconds.bounds },
    sensitive: true,
    says: 'Idle timeout of sessions in this organization, if shorter than in the project.',
    input: 'The shorter value of organization and project applies.',
  }),
  maxSessionSeconds: number({
    ...{ default: null, clearable: true, unit: 'seconds', bounds: sessionPolicyFields.maxSessionSeconds.bounds },
    sensitive: true,
    says: 'Absolute lifetime of sessions in this organization, if shorter than in the project.',
    input: 'The shorter value of organization and project applies.',
  }),
  joinByDomain: choice(
    {
      name: 'JoinByDomain',
      says: 'Whether users with a login address in a verified domain of an organization become its members.',
      values: domainJoins,
    },
    {
      ...{ default: 'off', sensitive: true },
      says: 'ON: such users become members when they sign in by a mail code. ASK: an admin decides.',
    },
  ),
  /** At most 4 KB. */
  metadata: json({ stored: false, view: false, inputs: false, sensitive: false }),
};

/** Settings of an organization, without `metadata`. */
export type OrganizationSettings = Omit<SettingsOf<typeof organizationFields>, 'metadata'>;
