import type { EventType } from '../generated/event-types.ts';

export type EventGroup = 'sign-in' | 'people' | 'applications' | 'directory' | 'administration';

export const groupNames: Record<EventGroup, string> = {
  'sign-in': 'Sign-in',
  people: 'Users and groups',
  applications: 'Applications',
  directory: 'Directory',
  administration: 'Administration',
};

/**
 * Filter group and sentence of each event type. Placeholders stand for names: `{person}` is the user of a device, passkey
 * or session; others are values of the detail.
 */
const sentences: Record<EventType, readonly [EventGroup, string]> = {
  'user.signed_in': ['sign-in', '{subject} signed in'],
  'otp.requested': ['sign-in', 'A one-time code was requested for {subject}'],
  'otp.suppressed': ['sign-in', 'A one-time code for {subject} was not sent'],
  'otp.failed': ['sign-in', 'A one-time code for {subject} could not be sent'],
  'signin.refused': ['sign-in', 'A step of the sign-in of {subject} was refused'],
  'authorization.refused': ['sign-in', 'A sign-in request of {subject} was refused'],
  'otp.sent': ['sign-in', 'A one-time code was sent to {subject}'],
  'otp.verified': ['sign-in', '{subject} entered the code'],
  'otp.rejected': ['sign-in', 'A one-time code of {subject} was refused'],
  'sms.limit_reached': ['sign-in', 'The daily SMS limit of {subject} was reached'],
  'sms.number_refused': ['sign-in', 'SMS of {subject} were refused'],
  'user.phone_change_begun': ['sign-in', '{subject} began to change the phone number'],
  'user.phone_change_refused': ['sign-in', 'A change of the phone number of {subject} was refused'],
  'user.phone_changed': ['sign-in', 'The phone number of {subject} was changed'],
  'mfa.enrolled': ['sign-in', '{subject} set up a second factor'],
  'mfa.rejected': ['sign-in', 'A second factor of {subject} was refused'],
  'mfa.change_begun': ['sign-in', '{actor} began to change a second factor of {subject}'],
  'mfa.changed': ['sign-in', 'A second factor of {subject} was changed'],
  'mfa.removed': ['sign-in', '{actor} removed the second factor of {subject}'],
  'mfa.reset': ['sign-in', '{actor} reset the second factors of {subject}'],
  'mfa.recovery_code_used': ['sign-in', '{subject} used a recovery code'],
  'mfa.recovery_codes_renewed': ['sign-in', '{actor} renewed the recovery codes'],
  'domain.added': ['administration', '{actor} added the domain {subject}'],
  'domain.verified': ['administration', 'The domain {subject} was verified'],
  'domain.missing': ['administration', 'The DNS record of the domain {subject} is missing'],
  'domain.lost': ['administration', 'The domain {subject} stopped working: its DNS record is missing'],
  'domain.failed': ['administration', 'The domain {subject} was not verified in time'],
  'domain.removed': ['administration', '{actor} removed the domain {subject}'],
  'recovery.granted': ['sign-in', '{actor} granted {subject} an account recovery'],
  'recovery.used': ['sign-in', '{subject} signed in with an account recovery'],
  'recovery.cancelled': ['sign-in', '{actor} cancelled the account recovery of {subject}'],
  'recovery.expired': ['sign-in', 'The account recovery of {subject} expired'],
  'device.registered': ['sign-in', 'The device {subject} of {person} was registered'],
  'device.renamed': ['sign-in', '{actor} renamed the device {subject} of {person}'],
  'device.revoked': ['sign-in', '{actor} revoked the device {subject} of {person}'],
  'device.proof_rejected': ['sign-in', 'A device proof was rejected'],
  'passkey.registered': ['sign-in', 'The passkey {subject} of {person} was added'],
  'passkey.renamed': ['sign-in', '{actor} renamed the passkey {subject} of {person}'],
  'passkey.revoked': ['sign-in', '{actor} revoked the passkey {subject} of {person}'],
  'passkey.rejected': ['sign-in', 'A passkey of {subject} was rejected'],
  'session.ended': ['sign-in', 'A session of {person} ended'],
  'token.issued': ['sign-in', 'Tokens were issued for {subject}'],
  'token.refreshed': ['sign-in', 'Tokens of {subject} were refreshed'],
  'token.revoked': ['sign-in', '{actor} revoked a token of {subject}'],
  'token.refused': ['sign-in', 'An authorization code, refresh token or device code from {subject} was refused'],
  'device-authorization.approved': ['sign-in', '{subject} allowed a device to sign in'],
  'device-authorization.denied': ['sign-in', '{subject} denied a device to sign in'],
  'device-authorization.code-refused': ['sign-in', 'A wrong code of a device was entered'],
  'refresh-token.replayed': [
    'sign-in',
    'A refresh token of {subject} was used again after its replacement; its access is revoked',
  ],
  'refresh-grant.revoked': ['sign-in', '{actor} ended a refresh grant of {subject}'],
  'refresh-grants.revoked': ['applications', '{actor} ended all refresh grants of {subject}'],
  'consent.given': ['sign-in', '{subject} gave {client} access'],
  'consent.refused': ['sign-in', '{subject} refused {client} access'],
  'access.removed': ['sign-in', '{actor} removed the access of {client} to the account of {subject}'],
  'code.replayed': ['sign-in', 'An authorization code was used twice; its access token is revoked'],
  'user.created': ['people', '{actor} created the user {subject}'],
  'user.invited': ['people', '{actor} invited {subject}'],
  'user.invitation_revoked': ['people', '{actor} revoked the invitation of {subject}'],
  'user.updated': ['people', '{actor} changed the user {subject}'],
  'user.erased': ['people', '{actor} erased a user'],
  'users.exported': ['people', '{actor} exported a list of users'],
  'user.exported': ['people', '{actor} exported the data of {subject}'],
  'group.created': ['people', '{actor} created the group {subject}'],
  'group.updated': ['people', '{actor} changed the group {subject}'],
  'group.deleted': ['people', '{actor} deleted the group {subject}'],
  'role.assigned': ['people', '{actor} gave {subject} the role {role} of {client}'],
  'role.unassigned': ['people', '{actor} took the role {role} of {client} from {subject}'],
  'role.created': ['applications', '{actor} created the role {subject} of {client}'],
  'role.updated': ['applications', '{actor} changed the role {subject} of {client}'],
  'role.deleted': ['applications', '{actor} deleted the role {subject} of {client}'],
  'client.created': ['applications', '{actor} created the application {subject}'],
  'client.updated': ['applications', '{actor} changed the application {subject}'],
  'client.deleted': ['applications', '{actor} deleted the application {subject}'],
  'client.claims_updated': ['applications', '{actor} changed the claims of {subject}'],
  'client.trial_begun': ['applications', '{actor} started a test sign-in to {subject}'],
  'client.tried': ['applications', '{actor} tested the sign-in of {subject}'],
  'client.rejected': ['applications', 'Client authentication of {subject} failed'],
  'api.created': ['applications', '{actor} created the API {subject}'],
  'api.updated': ['applications', '{actor} changed the API {subject}'],
  'api.deleted': ['applications', '{actor} deleted the API {subject}'],
  'api.granted': ['applications', '{actor} let {subject} call the API {api}'],
  'api.revoked': ['applications', '{actor} took the API {api} from {subject}'],
  'api-key.issued': ['applications', '{actor} created the API key {subject} of {client}'],
  'api-key.revoked': ['applications', '{actor} revoked the API key {subject} of {client}'],
  'client-secret.issued': ['applications', '{actor} created the client secret {subject} of {client}'],
  'client-secret.revoked': ['applications', '{actor} revoked the client secret {subject} of {client}'],
  'delegation-key.registered': ['applications', '{actor} registered delegation keys of {subject}'],
  'delegation-key.generated': ['applications', '{actor} generated delegation keys for {subject}'],
  'delegation-key.revoked': ['applications', '{actor} revoked delegation keys of {subject}'],
  'webhook.created': ['administration', '{actor} created the webhook {subject}'],
  'webhook.updated': ['administration', '{actor} changed the webhook {subject}'],
  'webhook.deleted': ['administration', '{actor} deleted the webhook {subject}'],
  'webhook.secret-rotated': ['administration', '{actor} rotated the secret of {subject}'],
  'webhook.tested': ['administration', '{actor} tested the webhook {subject}'],
  'webhook.replayed': ['administration', '{actor} replayed deliveries to {subject}'],
  'log-stream.created': ['administration', '{actor} created the log stream to {subject}'],
  'log-stream.updated': ['administration', '{actor} changed the log stream to {subject}'],
  'log-stream.deleted': ['administration', '{actor} deleted the log stream to {subject}'],
  'log-stream.tested': ['administration', '{actor} tested the log stream to {subject}'],
  'webhook.disabled': ['administration', 'The webhook {subject} was disabled'],
  'logout-delivery.retried': ['applications', '{actor} retried a logout to {subject}'],
  'logout-delivery.failed': ['applications', 'A logout to {subject} failed'],
  'directory.tested': ['directory', '{actor} ran the self-test of the directory'],
  'scim-token.issued': ['directory', '{actor} issued the directory token {subject}'],
  'scim-token.expiring': ['directory', 'The directory token {subject} expires soon'],
  'scim-token.network_refused': ['directory', 'The directory token {subject} was refused from another network'],
  'scim-token.revoked': ['directory', '{actor} revoked the directory token {subject}'],
  'custom-attribute.created': ['directory', '{actor} created the custom attribute {subject}'],
  'custom-attribute.updated': ['directory', '{actor} changed the custom attribute {subject}'],
  'custom-attribute.deleted': ['directory', '{actor} deleted the custom attribute {subject}'],
  'project.created': ['administration', '{actor} created the project {subject}'],
  'project.updated': ['administration', '{actor} changed the settings of {subject}'],
  'project.session-policy-updated': ['administration', '{actor} changed the session limits of {subject}'],
  'project.test_mode_ended': ['administration', 'Test mode of {subject} was switched off'],
  'project.exported': ['administration', '{actor} exported the project {subject}'],
  'project.imported': ['administration', '{actor} imported the project {subject}'],
  'audit.trimmed': ['administration', '{actor} deleted expired events'],
  'audit.archived': ['administration', '{actor} archived expired events'],
  'audit.exported': ['administration', '{actor} exported events'],
  'sender.tested': ['administration', '{actor} tested the {subject}'],
  'experience.published': ['administration', '{actor} published the branding of {subject}'],
  'experience.reverted': ['administration', '{actor} reverted the branding of {subject}'],
  'logo.uploaded': ['administration', '{actor} uploaded a logo for {subject}'],
  'project.deleted': ['administration', '{actor} deleted the project {subject}'],
  'membership.granted': ['administration', '{actor} gave {subject} the role {role}'],
  'membership.revoked': ['administration', '{actor} took the role {role} from {subject}'],
  'admin-token.issued': ['administration', '{actor} issued the API token {subject}'],
  'admin-token.revoked': ['administration', '{actor} revoked the API token {subject}'],
  'setup-link.minted': ['administration', 'A setup link was created'],
  'setup-link.used': ['administration', 'A setup link was used'],
  'bootstrap-token.used': ['administration', 'The bootstrap token was used'],
  'signing-key.published': ['administration', '{actor} published a signing key'],
  'signing-key.withdrawn': ['administration', '{actor} withdrew a signing key'],
  'backup.made': ['administration', 'A backup was created'],
  'backup.restored': ['administration', 'A backup was restored'],
  'master-key.changed': ['administration', 'The master key was changed'],
  'instance.created': ['administration', 'This instance was created'],
};

/** All event types. */
export const allTypes = Object.keys(sentences) as EventType[];

/** The sentence with its placeholders; undefined for a type that this console does not know. */
export function templateOf(type: string): string | undefined {
  return sentences[type as EventType]?.[1];
}

/** The sentence of an event type with generic names: "Someone signed in". */
export function sentenceOf(type: string): string {
  const sentence = templateOf(type);
  if (sentence === undefined) return type;
  const text = sentence
    .replace(/^\{subject\}/, 'someone')
    .replaceAll(/\{(?:actor|person)\}/g, 'someone')
    .replaceAll(/\{\w+\}/g, '…');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Event types of a group, for filters. */
export function typesOf(group: EventGroup): EventType[] {
  return allTypes.filter((type) => sentences[type][0] === group);
}
