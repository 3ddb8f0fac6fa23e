import type { EventType } from '../generated/event-types.ts';
import { t, template } from '../language/language.ts';

export type EventGroup = 'sign-in' | 'people' | 'applications' | 'directory' | 'administration';

export const groupNames: Record<EventGroup, string> = {
  'sign-in': t('Sign-in'),
  people: t('Users and groups'),
  applications: t('Applications'),
  directory: t('Directory'),
  administration: t('Administration'),
};

/**
 * Filter group and sentence of each event type. Placeholders are replaced with names: `{person}` is the user of a
 * device, passkey or session; others are values of the detail.
 */
const sentences: Record<EventType, readonly [EventGroup, string]> = {
  'user.signed_in': ['sign-in', template('{subject} signed in')],
  'otp.requested': ['sign-in', template('A one-time code was requested for {subject}')],
  'otp.suppressed': ['sign-in', template('A one-time code for {subject} was not sent')],
  'otp.failed': ['sign-in', template('A one-time code for {subject} could not be sent')],
  'signin.network_limited': ['sign-in', template('{subject} requested too many codes')],
  'signin.refused': ['sign-in', template('A step of the sign-in of {subject} was refused')],
  'authorization.refused': ['sign-in', template('A sign-in request of {subject} was refused')],
  'logout.address_refused': ['sign-in', template('A post-logout redirect URI of {subject} was refused')],
  'otp.sent': ['sign-in', template('A one-time code was sent to {subject}')],
  'otp.verified': ['sign-in', template('{subject} entered the code')],
  'otp.rejected': ['sign-in', template('A one-time code of {subject} was refused')],
  'sms.limit_reached': ['sign-in', template('The daily SMS limit of {subject} was reached')],
  'sms.number_refused': ['sign-in', template('SMS of {subject} were refused')],
  'user.email_change_begun': ['sign-in', template('{subject} began to change the email address')],
  'user.email_change_refused': ['sign-in', template('A change of the email address of {subject} was refused')],
  'user.email_changed': ['sign-in', template('The email address of {subject} was changed')],
  'user.phone_change_begun': ['sign-in', template('{subject} began to change the phone number')],
  'user.phone_change_refused': ['sign-in', template('A change of the phone number of {subject} was refused')],
  'user.phone_changed': ['sign-in', template('The phone number of {subject} was changed')],
  'mfa.enrolled': ['sign-in', template('{subject} set up a second factor')],
  'mfa.rejected': ['sign-in', template('A second factor of {subject} was refused')],
  'mfa.change_begun': ['sign-in', template('{actor} began to change a second factor of {subject}')],
  'mfa.changed': ['sign-in', template('A second factor of {subject} was changed')],
  'mfa.removed': ['sign-in', template('{actor} removed the second factor of {subject}')],
  'mfa.reset': ['sign-in', template('{actor} reset the second factors of {subject}')],
  'mfa.recovery_code_used': ['sign-in', template('{subject} used a recovery code')],
  'mfa.recovery_codes_renewed': ['sign-in', template('{actor} renewed the recovery codes')],
  'domain.added': ['administration', template('{actor} added the domain {subject}')],
  'domain.verified': ['administration', template('The domain {subject} was verified')],
  'domain.missing': ['administration', template('The domain {subject} failed its DNS check')],
  'domain.lost': ['administration', template('The domain {subject} stopped working after failed DNS checks')],
  'domain.failed': ['administration', template('The domain {subject} was not verified in time')],
  'domain.removed': ['administration', template('{actor} removed the domain {subject}')],
  'recovery.granted': ['sign-in', template('{actor} granted {subject} an account recovery')],
  'recovery.used': ['sign-in', template('{subject} signed in with an account recovery')],
  'recovery.cancelled': ['sign-in', template('{actor} cancelled the account recovery of {subject}')],
  'recovery.expired': ['sign-in', template('The account recovery of {subject} expired')],
  'device.registered': ['sign-in', template('The device {subject} of {person} was registered')],
  'device.renamed': ['sign-in', template('{actor} renamed the device {subject} of {person}')],
  'device.revoked': ['sign-in', template('{actor} revoked the device {subject} of {person}')],
  'device.proof_rejected': ['sign-in', template('A device proof was rejected')],
  'passkey.registered': ['sign-in', template('The passkey {subject} of {person} was added')],
  'passkey.renamed': ['sign-in', template('{actor} renamed the passkey {subject} of {person}')],
  'passkey.revoked': ['sign-in', template('{actor} revoked the passkey {subject} of {person}')],
  'passkey.rejected': ['sign-in', template('A passkey of {subject} was rejected')],
  'session.ended': ['sign-in', template('A session of {person} ended')],
  'token.issued': ['sign-in', template('Tokens were issued for {subject}')],
  'token.refreshed': ['sign-in', template('Tokens of {subject} were refreshed')],
  'token.revoked': ['sign-in', template('{actor} revoked a token of {subject}')],
  'token.refused': [
    'sign-in',
    template('An authorization code, refresh token or device code from {subject} was refused'),
  ],
  'device-authorization.approved': ['sign-in', template('{subject} allowed a device sign-in')],
  'device-authorization.denied': ['sign-in', template('{subject} denied a device sign-in')],
  'device-authorization.code-refused': ['sign-in', template('A wrong device code was entered')],
  'refresh-token.replayed': [
    'sign-in',
    template('A refresh token of {subject} was used again after its replacement; its access is revoked'),
  ],
  'refresh-grant.revoked': ['sign-in', template('{actor} ended a refresh grant of {subject}')],
  'refresh-grants.revoked': ['applications', template('{actor} ended all refresh grants of {subject}')],
  'consent.given': ['sign-in', template('{subject} gave {client} access')],
  'consent.refused': ['sign-in', template('{subject} refused {client} access')],
  'access.removed': ['sign-in', template('{actor} removed the access of {client} to the account of {subject}')],
  'code.replayed': ['sign-in', template('An authorization code was used twice; its access token is revoked')],
  'user.created': ['people', template('{actor} created the user {subject}')],
  'user.approval_requested': ['people', template('{subject} asked to sign up')],
  'user.approval_given': ['people', template('{actor} approved the sign-up of {subject}')],
  'user.approval_refused': ['people', template('{actor} declined the sign-up of {subject}')],
  'user.invited': ['people', template('{actor} invited {subject}')],
  'user.invitation_revoked': ['people', template('{actor} revoked the invitation of {subject}')],
  'user.updated': ['people', template('{actor} changed the user {subject}')],
  'user.erased': ['people', template('{actor} erased a user')],
  'user.handed_over': ['people', template('The account {subject} passed to another person; credentials ended')],
  'users.exported': ['people', template('{actor} exported a list of users')],
  'user.exported': ['people', template('{actor} exported the data of {subject}')],
  'group.created': ['people', template('{actor} created the group {subject}')],
  'group.updated': ['people', template('{actor} changed the group {subject}')],
  'group.deleted': ['people', template('{actor} deleted the group {subject}')],
  'access.granted': ['people', template('{actor} gave {subject} access to {client}')],
  'access.revoked': ['people', template('{actor} ended the access of {subject} to {client}')],
  'access.refused': ['sign-in', template('{subject} has no access to {client}')],
  'role.assigned': ['people', template('{actor} assigned the role {role} of {client} to {subject}')],
  'role.unassigned': ['people', template('{actor} removed the role {role} of {client} from {subject}')],
  'role.created': ['applications', template('{actor} created the role {subject} of {client}')],
  'role.updated': ['applications', template('{actor} changed the role {subject} of {client}')],
  'role.deleted': ['applications', template('{actor} deleted the role {subject} of {client}')],
  'client.created': ['applications', template('{actor} created the application {subject}')],
  'client.updated': ['applications', template('{actor} changed the application {subject}')],
  'client.deleted': ['applications', template('{actor} deleted the application {subject}')],
  'client.claims_updated': ['applications', template('{actor} changed the claims of {subject}')],
  'client.trial_begun': ['applications', template('{actor} started a test sign-in to {subject}')],
  'client.tried': ['applications', template('{actor} tested the sign-in of {subject}')],
  'client.rejected': ['applications', template('Client authentication of {subject} failed')],
  'api.created': ['applications', template('{actor} created the API {subject}')],
  'api.updated': ['applications', template('{actor} changed the API {subject}')],
  'api.deleted': ['applications', template('{actor} deleted the API {subject}')],
  'api.granted': ['applications', template('{actor} let {subject} call the API {api}')],
  'api.revoked': ['applications', template('{actor} removed the API {api} from {subject}')],
  'api-key.issued': ['applications', template('{actor} created the API key {subject} of {client}')],
  'api-key.revoked': ['applications', template('{actor} revoked the API key {subject} of {client}')],
  'client-secret.issued': ['applications', template('{actor} created the client secret {subject} of {client}')],
  'client-secret.revoked': ['applications', template('{actor} revoked the client secret {subject} of {client}')],
  'delegation-key.registered': ['applications', template('{actor} registered delegation keys of {subject}')],
  'delegation-key.generated': ['applications', template('{actor} generated delegation keys for {subject}')],
  'delegation-key.revoked': ['applications', template('{actor} revoked delegation keys of {subject}')],
  'webhook.created': ['administration', template('{actor} created the webhook {subject}')],
  'webhook.updated': ['administration', template('{actor} changed the webhook {subject}')],
  'webhook.deleted': ['administration', template('{actor} deleted the webhook {subject}')],
  'webhook.secret-rotated': ['administration', template('{actor} rotated the secret of {subject}')],
  'webhook.tested': ['administration', template('{actor} tested the webhook {subject}')],
  'webhook.replayed': ['administration', template('{actor} replayed deliveries to {subject}')],
  'log-stream.created': ['administration', template('{actor} created the log stream to {subject}')],
  'log-stream.updated': ['administration', template('{actor} changed the log stream to {subject}')],
  'log-stream.deleted': ['administration', template('{actor} deleted the log stream to {subject}')],
  'log-stream.tested': ['administration', template('{actor} tested the log stream to {subject}')],
  'webhook.disabled': ['administration', template('The webhook {subject} was disabled')],
  'logout-delivery.retried': ['applications', template('{actor} retried a logout to {subject}')],
  'logout-delivery.failed': ['applications', template('A logout to {subject} failed')],
  'logout-delivery.omitted': ['applications', template('No logout token was sent about {subject}')],
  'directory.tested': ['directory', template('{actor} ran the self-test of the directory')],
  'scim-token.issued': ['directory', template('{actor} issued the directory token {subject}')],
  'scim-token.expiring': ['directory', template('The directory token {subject} expires soon')],
  'scim-token.network_refused': [
    'directory',
    template('The directory token {subject} was refused from another network'),
  ],
  'scim-token.revoked': ['directory', template('{actor} revoked the directory token {subject}')],
  'custom-attribute.created': ['directory', template('{actor} created the custom attribute {subject}')],
  'custom-attribute.updated': ['directory', template('{actor} changed the custom attribute {subject}')],
  'custom-attribute.deleted': ['directory', template('{actor} deleted the custom attribute {subject}')],
  'project.created': ['administration', template('{actor} created the project {subject}')],
  'project.updated': ['administration', template('{actor} changed the settings of {subject}')],
  'project.session-policy-updated': ['administration', template('{actor} changed the session limits of {subject}')],
  'project.test_mode_ended': ['administration', template('Test mode of {subject} was turned off')],
  'project.exported': ['administration', template('{actor} exported the project {subject}')],
  'project.imported': ['administration', template('{actor} imported the project {subject}')],
  'audit.trimmed': ['administration', template('{actor} deleted expired events')],
  'audit.archived': ['administration', template('{actor} archived expired events')],
  'audit.exported': ['administration', template('{actor} exported events')],
  'sender.tested': ['administration', template('{actor} tested the {subject}')],
  'experience.published': ['administration', template('{actor} published the branding of {subject}')],
  'experience.reverted': ['administration', template('{actor} reverted the branding of {subject}')],
  'logo.uploaded': ['administration', template('{actor} uploaded a logo for {subject}')],
  'project.deleted': ['administration', template('{actor} deleted the project {subject}')],
  'membership.granted': ['administration', template('{actor} assigned the role {role} to {subject}')],
  'membership.revoked': ['administration', template('{actor} removed the role {role} from {subject}')],
  'admin-token.issued': ['administration', template('{actor} issued the API token {subject}')],
  'admin-token.revoked': ['administration', template('{actor} revoked the API token {subject}')],
  'setup-link.minted': ['administration', template('A setup link was created')],
  'setup-link.used': ['administration', template('A setup link was used')],
  'bootstrap-token.used': ['administration', template('The bootstrap token was used')],
  'signing-key.published': ['administration', template('{actor} published a signing key')],
  'signing-key.withdrawn': ['administration', template('{actor} withdrew a signing key')],
  'backup.made': ['administration', template('A backup was created')],
  'backup.restored': ['administration', template('A backup was restored')],
  'master-key.changed': ['administration', template('The master key was changed')],
  'instance.created': ['administration', template('This instance was created')],
};

export const allTypes = Object.keys(sentences) as EventType[];

/** The sentence with its placeholders; undefined for an unknown type. */
export function templateOf(type: string): string | undefined {
  return sentences[type as EventType]?.[1];
}

/** The sentence of an event type with generic names: "Someone signed in". */
export function sentenceOf(type: string): string {
  const sentence = templateOf(type);
  if (sentence === undefined) return type;
  const text = sentence
    .replace(/^\{subject\}/, t('someone'))
    .replaceAll(/\{(?:actor|person)\}/g, t('someone'))
    .replaceAll(/\{\w+\}/g, '…');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Event types of a group, for filters. */
export function typesOf(group: EventGroup): EventType[] {
  return allTypes.filter((type) => sentences[type][0] === group);
}
