import type { MikroORM } from '@mikro-orm/postgresql';
import { AccessLosses } from './domain/access/access-losses.ts';
import { AccessRefusals } from './domain/access/access-refusals.ts';
import { AccessRules } from './domain/access/access-rules.ts';
import { AccountAccess } from './domain/accounts/account-access.ts';
import { Accounts } from './domain/accounts/accounts.ts';
import { Admissions } from './domain/accounts/admissions.ts';
import { Arrivals } from './domain/accounts/arrivals/arrivals.ts';
import { AccountDeletions } from './domain/accounts/deletions/account-deletions.ts';
import { Invitations } from './domain/accounts/invitations.ts';
import { NewUsers } from './domain/accounts/new-users.ts';
import { OrganizationEnds } from './domain/accounts/organization-ends.ts';
import { OrganizationInvitations } from './domain/accounts/organization-invitations.ts';
import { OwnAccount } from './domain/accounts/own/own-account.ts';
import { OwnAuthenticator } from './domain/accounts/own/own-authenticator.ts';
import { OwnContactChanges } from './domain/accounts/own/own-contacts.ts';
import { OwnData } from './domain/accounts/own/own-data.ts';
import { OwnUserKeys } from './domain/accounts/own/own-keys.ts';
import { Recoveries } from './domain/accounts/recoveries.ts';
import { SignUpApprovals } from './domain/accounts/sign-up-approvals.ts';
import { UserEdits } from './domain/accounts/user-edits.ts';
import { AdminClients } from './domain/admins/admin-clients.ts';
import { AdminInvitations } from './domain/admins/admin-invitations.ts';
import { Admins } from './domain/admins/admins.ts';
import { CertificateWarnings } from './domain/admins/certificate-warnings.ts';
import { DirectoryWarnings } from './domain/admins/directory-warnings.ts';
import { DomainNotices } from './domain/admins/domain-notices.ts';
import { IdempotentRequests } from './domain/admins/idempotent-requests.ts';
import { Seed } from './domain/admins/seed.ts';
import { SignUpNotices } from './domain/admins/sign-up-notices.ts';
import { Apis } from './domain/apis/apis.ts';
import { IssuerKeys } from './domain/apis/issuer-keys.ts';
import { Activity } from './domain/audit/activity.ts';
import type { EventArchive } from './domain/audit/archive.ts';
import { Audit } from './domain/audit/audit.ts';
import { AuditRetention } from './domain/audit/audit-retention.ts';
import { SigninCallers } from './domain/ceremonies/callers.ts';
import { Ceremonies } from './domain/ceremonies/ceremonies.ts';
import { recordCodeEvent } from './domain/ceremonies/code-events.ts';
import { FederatedSignIns } from './domain/ceremonies/federated.ts';
import { endOpenWork } from './domain/ceremonies/open-work.ts';
import { Recipients } from './domain/ceremonies/recipients.ts';
import { AuthorizationRequests } from './domain/ceremonies/requests/authorization-requests.ts';
import { Authorizations } from './domain/ceremonies/requests/authorizations.ts';
import { DeviceApprovals } from './domain/ceremonies/requests/device-approvals.ts';
import { PushedRequests } from './domain/ceremonies/requests/pushed-requests.ts';
import { Retention } from './domain/ceremonies/retention.ts';
import { BegunDevices } from './domain/ceremonies/steps/begun-devices.ts';
import { Trials } from './domain/ceremonies/steps/trials.ts';
import { Claims } from './domain/claims/claims.ts';
import { ClientAssertions } from './domain/clients/assertions/client-assertions.ts';
import { WorkloadTokens } from './domain/clients/assertions/workload-tokens.ts';
import { ClientRegistry } from './domain/clients/client-registry.ts';
import { ClientSecrets } from './domain/clients/client-secrets.ts';
import { Clients } from './domain/clients/clients.ts';
import { DpopNonces } from './domain/clients/dpop/dpop-nonces.ts';
import { DpopProofs } from './domain/clients/dpop/dpop-proofs.ts';
import { ClientDocuments, type FetchDocument } from './domain/clients/introductions/client-documents.ts';
import { ClientRegistrations } from './domain/clients/introductions/client-registrations.ts';
import { RegistrationTokens } from './domain/clients/introductions/registration-tokens.ts';
import { Origins } from './domain/clients/origins.ts';
import { type FetchJson, RemoteKeys } from './domain/clients/remote-keys.ts';
import { ApplicationCertificates } from './domain/clients/saml/application-certificates.ts';
import { ServiceProviderMetadata } from './domain/clients/saml/sp-metadata.ts';
import { Configurations } from './domain/configuration/configurations.ts';
import { AssertionIssuers } from './domain/connections/assertions/assertion-issuers.ts';
import { Connections } from './domain/connections/connections.ts';
import { Identities, identitiesAtOrganizations } from './domain/connections/identities.ts';
import { OidcProtocol } from './domain/connections/oidc/oidc-protocol.ts';
import { Providers } from './domain/connections/oidc/providers.ts';
import { CertificateExpiry } from './domain/connections/saml/certificate-expiry.ts';
import { MetadataRefresh } from './domain/connections/saml/metadata-refresh.ts';
import { type FetchMetadata, ProviderMetadata } from './domain/connections/saml/provider-metadata.ts';
import { SamlProtocol } from './domain/connections/saml/saml-protocol.ts';
import type { UpstreamClient } from './domain/connections/upstream.ts';
import { UpstreamSignIns } from './domain/connections/upstream-sign-ins.ts';
import { Consents } from './domain/consents/consents.ts';
import { PendingChanges } from './domain/contacts/pending-changes.ts';
import { PhoneChanges } from './domain/contacts/phone-changes.ts';
import { Devices } from './domain/credentials/devices.ts';
import { Passkeys } from './domain/credentials/passkeys.ts';
import { DelegationKeys } from './domain/delegation/delegation-keys.ts';
import { FactorChanges } from './domain/delegation/factor-changes.ts';
import { DelegationRequests } from './domain/delegation/requests.ts';
import { Delivery } from './domain/delivery/delivery.ts';
import type { Locale } from './domain/delivery/locale.ts';
import type { MailSender, SmsSender } from './domain/delivery/sender.ts';
import { SenderTests } from './domain/delivery/sender-tests.ts';
import { Directories } from './domain/directories/directories.ts';
import { RequestRecords } from './domain/directories/request-records.ts';
import { clearTexts } from './domain/directories/user-tables.ts';
import { DomainEnd } from './domain/domains/domain-end.ts';
import { Domains } from './domain/domains/domains.ts';
import { Experiences } from './domain/experience/experiences.ts';
import { Backups } from './domain/instance/backups.ts';
import { MasterKeyChange } from './domain/instance/master-key-change.ts';
import { Processes, type Runtime } from './domain/instance/processes.ts';
import { SystemStatus } from './domain/instance/system-status.ts';
import type { Clock } from './domain/kernel/clock.ts';
import { Database } from './domain/kernel/database.ts';
import type { Queue, QueueGauge } from './domain/kernel/queue.ts';
import type { Random } from './domain/kernel/random.ts';
import { Keys } from './domain/keys/keys.ts';
import { SamlKeys } from './domain/keys/saml-keys.ts';
import { defaultSchedule } from './domain/keys/schedule.ts';
import { Signer } from './domain/keys/signer.ts';
import type { SigningAlgorithm } from './domain/keys/signing-key.entity.ts';
import { Vault } from './domain/keys/vault.ts';
import { Limits } from './domain/limits/limits.ts';
import { Logout } from './domain/logout/logout.ts';
import { LogoutChannel, type PostLogoutToken } from './domain/logout/logout-channel.ts';
import { LostAccessEnd } from './domain/logout/lost-access-end.ts';
import { LostMembershipEnd } from './domain/logout/lost-membership-end.ts';
import { LogoutNotices } from './domain/logout/notices.ts';
import { SamlLogout } from './domain/logout/saml-logout.ts';
import { type PostSoap, SamlLogoutRequests } from './domain/logout/saml-logout-requests.ts';
import { Mfa } from './domain/mfa/mfa.ts';
import { followPhone } from './domain/mfa/user-tables.ts';
import { DirectoryGuests } from './domain/organizations/domains/directory-guests.ts';
import { DomainJoins } from './domain/organizations/domains/domain-joins.ts';
import { OrganizationDomains } from './domain/organizations/domains/organization-domains.ts';
import { GroupRoles } from './domain/organizations/groups/group-roles.ts';
import { MembershipLosses } from './domain/organizations/membership-losses.ts';
import { Memberships } from './domain/organizations/memberships.ts';
import { OrganizationRoles } from './domain/organizations/organization-roles.ts';
import { Organizations } from './domain/organizations/organizations.ts';
import { Guessing } from './domain/otp/guessing.ts';
import { Otp } from './domain/otp/otp.ts';
import { Sends } from './domain/otp/sends.ts';
import { Portal } from './domain/portal/portal.ts';
import { PortalConnections } from './domain/portal/portal-connections.ts';
import { PortalDirectory } from './domain/portal/portal-directory.ts';
import { PortalLinks } from './domain/portal/portal-links.ts';
import type { ReadTxt } from './domain/projects/dns-proof.ts';
import { Issuers } from './domain/projects/issuers.ts';
import type { AccessLost } from './domain/projects/lost-access.ts';
import { Projects } from './domain/projects/projects.ts';
import { Relay } from './domain/relay/relay.ts';
import { Roles } from './domain/roles/roles.ts';
import { Sessions } from './domain/sessions/sessions.ts';
import { SignUpRequests } from './domain/signups/sign-up-requests.ts';
import { SmsGuard } from './domain/sms/sms-guard.ts';
import { type SendBatch } from './domain/streams/batch.ts';
import type { StreamKind } from './domain/streams/log-stream.entity.ts';
import { LogStreams } from './domain/streams/log-streams.ts';
import { StreamChannel } from './domain/streams/stream-channel.ts';
import { Impersonations } from './domain/support/impersonations.ts';
import { SignInForecast } from './domain/support/view-as.ts';
import { IdentityAssertions } from './domain/tokens/assertions/identity-assertions.ts';
import { ClientTokens } from './domain/tokens/client-tokens.ts';
import { DeviceAuthorizations } from './domain/tokens/device/device-authorizations.ts';
import { TokenExchanges } from './domain/tokens/exchange/exchanges.ts';
import { Introspection } from './domain/tokens/introspection.ts';
import { UserKeys } from './domain/tokens/keys/user-keys.ts';
import { Mint } from './domain/tokens/mint.ts';
import { RefreshGrants } from './domain/tokens/refresh-grants.ts';
import { RevocableTokens } from './domain/tokens/revocable-tokens.ts';
import { SamlAnswers } from './domain/tokens/saml/saml-answers.ts';
import { SamlNameIds } from './domain/tokens/saml/saml-name-ids.ts';
import { TokenRefusals } from './domain/tokens/token-refusals.ts';
import { Tokens } from './domain/tokens/tokens.ts';
import { CustomAttributes } from './domain/users/custom/custom-attributes.ts';
import { Groups } from './domain/users/groups.ts';
import { LocalGroups } from './domain/users/local-groups.ts';
import { GroupMembers } from './domain/users/members/group-members.ts';
import { Users } from './domain/users/users.ts';
import { WebhookChannel } from './domain/webhooks/webhook-channel.ts';
import type { PostWebhook } from './domain/webhooks/webhook-round.ts';
import { Webhooks } from './domain/webhooks/webhooks.ts';

/** The ports of the domain. */
export interface Ports {
  orm: MikroORM;
  clock: Clock;
  random: Random;
  queue: Queue;
  /** Null where messages of this kind cannot be sent. */
  senders: { mail: MailSender | null; sms: SmsSender | null };
  postLogoutToken: PostLogoutToken;
  /** Posts SAML logout requests. Absent: no application can be reached. */
  postSoap?: PostSoap;
  /** Absent: webhooks cannot be reached. */
  postWebhook?: PostWebhook;
  /** Absent: log streams cannot be reached. */
  sendBatch?: SendBatch;
  /** Whether {@link sendBatch} writes files. */
  hasStreamFolder?: boolean;
  /** Reads the key sets of clients. Absent: none can be read. */
  fetchJson?: FetchJson;
  /** Reads the metadata documents of clients. Absent: none can be read. */
  fetchDocument?: FetchDocument;
  /** Reads the metadata of SAML providers. Absent: none can be read. */
  fetchMetadata?: FetchMetadata;
  /** Exchanges codes with upstream providers. Absent: none can be reached. */
  upstream?: UpstreamClient;
  /** Reads TXT records. Absent: none can be read. */
  readTxt?: ReadTxt;
  /** Called for each event of the audit log, for metrics. */
  onEvent?(type: string, result: string): void;
  /** Called for each attempt to deliver an event to a webhook, for metrics. */
  onWebhook?(result: 'delivered' | 'failed'): void;
  /** Called for each batch of a log stream, for metrics. */
  onBatch?(kind: StreamKind, result: 'delivered' | 'failed'): void;
  /** Address of a proxy that TRUST_PROXY does not name; null: none was seen. */
  untrustedProxy?(): string | null;
  /** Called with the algorithms that had no signing key and got one. */
  onKeyRepair?(algorithms: readonly SigningAlgorithm[]): void;
  /** Called with the number of messages that expired unsent, for metrics. */
  onExpired?(channel: string, count: number): void;
  /** Archive of months of the audit log, written before they are deleted. */
  eventArchive?: EventArchive | undefined;
  /** Absent if no jobs run. */
  gauge?: QueueGauge;
  /** Absent in a short-lived command. */
  runtime?: Runtime;
  /** Corrects `clock` by the database's; absent in a command. */
  follow?: (aheadMs: number, errorMs: number) => number;
}

/** Settings of the domain. */
export interface DomainSettings {
  issuer: string;
  /** 32 bytes. */
  masterKey: Uint8Array;
  /** Opens sealed values, never seals. */
  secondMasterKey?: Uint8Array | undefined;
  allowPrivateTargets: boolean;
  /** Retention of audit events; absent or 0: forever. */
  auditRetentionDays?: number;
  /** Sign-ins that one network may begin in a minute; absent: unlimited. */
  challengesPerMinute?: number;
  /** Authorization requests that one network may leave waiting in a minute; absent: unlimited. */
  authorizationsPerMinute?: number;
}

const noRuntime: Runtime = {
  host: 'here',
  pid: 0,
  version: 'unknown',
  nodeVersion: 'unknown',
  signMicroseconds: null,
  migrations: [],
};

export type Services = ReturnType<typeof buildServices>;

/** Builds the domain, lowest layer first. Each service names in its type the parts that it needs of the layers below. */
export function buildServices(ports: Ports, settings: DomainSettings) {
  const base = baseOf(ports, settings);
  const applications = withApplications(base, ports, settings);
  const users = withUsers(applications, ports);
  const tokens = withTokens(users);
  const connections = withConnections(tokens, ports, settings);
  const signIn = withSignIn(connections, settings);
  const accounts = withAccounts(signIn, ports);
  const deliveries = withDeliveries(accounts, ports, settings);
  return withInstance(deliveries, ports, settings);
}

function baseOf({ orm, clock, random, queue, senders, onEvent }: Ports, settings: DomainSettings) {
  const db = new Database(orm);
  const audit = new Audit({ clock, random, onRecord: onEvent });
  const vault = new Vault(settings.masterKey, random, settings.secondMasterKey);
  const limits = new Limits({ clock, keysOf: (subject) => vault.macs('budget', '', subject) });
  const accessLosses = new AccessLosses({ queue });
  const accessLost: AccessLost = (em, lost) => accessLosses.queue(em, lost);
  const membershipLosses = new MembershipLosses({ queue });
  const base = { db, clock, random, queue, senders, issuer: settings.issuer, audit, vault, limits };
  return { ...base, accessLost, membershipLosses };
}

/** Issuers and their keys, projects, and the applications and APIs of a project. */
function withApplications(
  base: ReturnType<typeof baseOf>,
  { orm, fetchJson, fetchDocument, onKeyRepair }: Ports,
  { allowPrivateTargets }: DomainSettings,
) {
  const { clock } = base;
  const keys = new Keys({ ...base, schedule: defaultSchedule, onRepair: onKeyRepair });
  const projects = new Projects({ ...base, canSendSms: base.senders.sms !== null });
  const clientSecrets = new ClientSecrets(base);
  const reading = fetchJson ?? (async () => ({ error: 'no network' }));
  const remoteKeys = new RemoteKeys({ clock, fetchJson: reading });
  const dpopNonces = new DpopNonces(base);
  const origins = new Origins(base);
  const clients = new Clients({ ...base, secrets: clientSecrets, allowPrivateTargets });
  orm.em.getEventManager().registerSubscriber(origins);
  return {
    ...base,
    issuers: new Issuers(base),
    keys,
    samlKeys: new SamlKeys(base),
    signer: new Signer({ ...base, keys }),
    issuerKeys: new IssuerKeys({ ...base, keys }),
    projects,
    testMode: projects.testMode,
    experiences: new Experiences(base),
    clientSecrets,
    clients,
    documents: new ClientDocuments({
      ...{ ...base, clients, allowPrivateTargets },
      fetchDocument: fetchDocument ?? (async () => ({ error: 'no network' })),
    }),
    registry: new ClientRegistry(base),
    remoteKeys,
    assertions: new ClientAssertions({ clock, remoteKeys }),
    workloadTokens: new WorkloadTokens({ clock, remoteKeys, fetchJson: reading, allowPrivateTargets }),
    registrations: new ClientRegistrations({ ...base, clients, secrets: clientSecrets, allowPrivateTargets }),
    registrationTokens: new RegistrationTokens(base),
    dpopNonces,
    dpopProofs: new DpopProofs({ clock, nonces: dpopNonces }),
    apis: new Apis(base),
    origins,
  };
}

/** Users, their credentials, and messages to them. */
function withUsers(lower: ReturnType<typeof withApplications>, { onExpired }: Ports) {
  const { db, audit, experiences } = lower;
  const memberships = new Memberships({ ...lower, endIdentities: identitiesAtOrganizations(audit) });
  const users = new Users({ ...lower, followPhone, openHome: (em, key) => memberships.openHome(em, key) });
  const groups = new Groups(lower);
  const admins = new Admins({ ...lower, users });
  const lookOf = (projectId: string, locale: Locale) => experiences.mailLook(db.reader(), projectId, locale);
  const recipients = new Recipients({ ...lower, users, setupLinks: admins });
  const delivery = new Delivery({
    ...lower,
    lookOf,
    check: (em, message, context) => recipients.check(em, message, context),
    settled: (em, message, context) => recordCodeEvent(audit, em, message, context),
    onExpired,
  });
  const smsGuard = new SmsGuard(lower);
  const mfa = new Mfa(lower);
  const otp = new Otp(lower);
  const sends = new Sends(lower);
  const codes = { users, mfa, otp, sends, smsGuard, delivery };
  const pendingPhones = new PendingChanges('phone', { ...lower, ...codes });
  return {
    ...lower,
    ...codes,
    customAttributes: new CustomAttributes({ ...lower, clearTexts }),
    idempotentRequests: new IdempotentRequests(lower),
    groups,
    groupMembers: new GroupMembers(lower),
    localGroups: new LocalGroups({ groups }),
    roles: new Roles(lower),
    organizations: new Organizations(lower),
    organizationRoles: new OrganizationRoles(lower),
    groupRoles: new GroupRoles(lower),
    memberships,
    directoryGuests: new DirectoryGuests({ audit, memberships }),
    domainJoins: new DomainJoins({ memberships }),
    accessRules: new AccessRules(lower),
    accessRefusals: new AccessRefusals(lower),
    claims: new Claims(lower),
    admins,
    recipients,
    senderTests: new SenderTests({ ...lower, ...codes, lookOf }),
    devices: new Devices(lower),
    passkeys: new Passkeys(lower),
    guessing: new Guessing(lower),
    pendingPhones,
    pendingEmails: new PendingChanges('email', { ...lower, ...codes }),
    phones: new PhoneChanges({ ...lower, ...codes, pendingPhones, endOpenWork }),
    signUpRequests: new SignUpRequests(lower),
    sessions: new Sessions(lower),
    consents: new Consents(lower),
    identities: new Identities({ ...lower, users, memberships }),
  };
}

function withTokens(lower: ReturnType<typeof withUsers>) {
  const { registry, claims } = lower;
  const mint = new Mint({ ...lower, applicationClaims: claims });
  const samlNameIds = new SamlNameIds(lower);
  const userKeys = new UserKeys(lower);
  const tokens = new Tokens({ ...lower, mint, clients: registry, applicationClaims: claims });
  return {
    ...lower,
    mint,
    tokens,
    samlNameIds,
    samlAnswers: new SamlAnswers({ ...lower, tokens, samlNameIds }),
    tokenRefusals: new TokenRefusals(lower),
    refreshGrants: new RefreshGrants(lower),
    clientTokens: new ClientTokens(lower),
    tokenExchanges: new TokenExchanges({ ...lower, mint }),
    userKeys,
    introspection: new Introspection({ ...lower, userKeys }),
    revocableTokens: new RevocableTokens(lower),
    adminClients: new AdminClients({ ...lower, clients: registry }),
  };
}

/** Connections to upstream identity providers. */
function withConnections(
  lower: ReturnType<typeof withTokens>,
  { fetchJson, fetchMetadata, upstream }: Ports,
  { allowPrivateTargets }: DomainSettings,
) {
  const noNetwork = async () => ({ error: 'no network' });
  const unreachable = async () => ({ fault: 'unreachable' as const });
  const providers = new Providers({ ...lower, fetchJson: fetchJson ?? noNetwork, allowPrivateTargets });
  const metadata = new ProviderMetadata({ fetchMetadata: fetchMetadata ?? noNetwork, allowPrivateTargets });
  const serviceProviderMetadata = new ServiceProviderMetadata({
    fetchMetadata: fetchMetadata ?? noNetwork,
    allowPrivateTargets,
  });
  const oidc = new OidcProtocol({
    ...lower,
    providers,
    upstream: upstream ?? { redeem: unreachable, userInfo: unreachable },
  });
  return {
    ...lower,
    connections: new Connections({ ...lower, metadata, allowPrivateTargets }),
    identityAssertions: new IdentityAssertions({
      ...lower,
      assertionIssuers: new AssertionIssuers({ ...lower, providers }),
    }),
    certificateExpiry: new CertificateExpiry(lower),
    metadataRefresh: new MetadataRefresh({ ...lower, metadata }),
    serviceProviderMetadata,
    applicationCertificates: new ApplicationCertificates({ ...lower, metadata: serviceProviderMetadata }),
    upstreamSignIns: new UpstreamSignIns({ ...lower, protocols: { oidc, saml: new SamlProtocol(lower) } }),
  };
}

/** Requests of applications, and the sign-ins that complete them. */
function withSignIn(lower: ReturnType<typeof withConnections>, settings: DomainSettings) {
  const perMinute = settings.authorizationsPerMinute ?? Number.POSITIVE_INFINITY;
  const requests = new AuthorizationRequests(lower);
  const deviceAuthorizations = new DeviceAuthorizations({ ...lower, perMinute });
  const callers = new SigninCallers({ ...lower, clients: lower.registry, requests });
  const begunDevices = new BegunDevices(lower);
  return {
    ...lower,
    requests,
    authorizations: new Authorizations({ ...lower, requests, perMinute }),
    pushedRequests: new PushedRequests({ ...lower, perMinute }),
    deviceAuthorizations,
    deviceApprovals: new DeviceApprovals({ ...lower, requests, deviceAuthorizations, perMinute }),
    trials: new Trials({ ...lower, requests }),
    callers,
    begunDevices,
    ceremonies: new Ceremonies({
      ...lower,
      callers,
      begunDevices,
      setupLinks: lower.admins,
      challengesPerMinute: settings.challengesPerMinute ?? Number.POSITIVE_INFINITY,
    }),
    federated: new FederatedSignIns({ ...lower, callers, begunDevices, setupLinks: lower.admins }),
    retention: new Retention(lower),
  };
}

/** Changes of accounts: by their users, by admins, by directories and by back ends. */
function withAccounts(signIn: ReturnType<typeof withSignIn>, { postLogoutToken, postSoap, readTxt }: Ports) {
  const samlRequests = new SamlLogoutRequests({ ...signIn, post: postSoap ?? (async () => ({ error: 'no network' })) });
  const channel = new LogoutChannel({ ...signIn, post: postLogoutToken, samlRequests });
  const logoutRelay = new Relay({ ...signIn, channel });
  const logoutNotices = new LogoutNotices({ ...signIn, relay: logoutRelay });
  const logout = new Logout({ ...signIn, logoutNotices, relay: logoutRelay });
  const lower = {
    ...signIn,
    logoutNotices,
    logout,
    samlLogout: new SamlLogout({ ...signIn, logout }),
    lostAccessEnd: new LostAccessEnd({ ...signIn, logoutNotices }),
    lostMembershipEnd: new LostMembershipEnd({ ...signIn, logoutNotices }),
    accounts: new Accounts({ ...signIn, logoutNotices }),
    recoveries: new Recoveries(signIn),
    directories: new Directories(signIn),
  };
  const invitations = new Invitations(lower);
  const organizationInvitations = new OrganizationInvitations({ ...lower, invitations });
  const newUsers = new NewUsers({ ...lower, invitations });
  const organizationEnds = new OrganizationEnds(lower);
  const portalLinks = new PortalLinks(lower);
  const admissions = new Admissions(lower);
  const portalConnections = new PortalConnections(lower);
  const requestRecords = new RequestRecords(lower);
  const portalDirectory = new PortalDirectory({ ...lower, requestRecords });
  const domainNotices = new DomainNotices(lower);
  const accountAccess = new AccountAccess(lower);
  const readDomains: ReadTxt = readTxt ?? (async () => 'unavailable');
  const organizationDomains = new OrganizationDomains({ ...lower, readTxt: readDomains });
  return {
    ...lower,
    accountAccess,
    accountDeletions: new AccountDeletions({ ...lower, accountAccess }),
    invitations,
    organizationInvitations,
    portalLinks,
    portalConnections,
    portalDirectory,
    portal: new Portal({ ...lower, organizationDomains, portalLinks, portalConnections, portalDirectory }),
    newUsers,
    organizationEnds,
    admissions,
    arrivals: new Arrivals({ ...lower, newUsers }),
    signUpApprovals: new SignUpApprovals(lower),
    userEdits: new UserEdits(lower),
    forecast: new SignInForecast(lower),
    impersonations: new Impersonations(lower),
    ownAccount: new OwnAccount(lower),
    ownAuthenticator: new OwnAuthenticator(lower),
    ownContacts: new OwnContactChanges(lower),
    ownData: new OwnData(lower),
    ownUserKeys: new OwnUserKeys(lower),
    adminInvitations: new AdminInvitations(lower),
    organizationDomains,
    domains: new Domains({
      ...lower,
      readTxt: readDomains,
      notifyAdmins: (em, projectId, notice) => domainNotices.send(em, projectId, notice),
    }),
    domainEnd: new DomainEnd(lower),
    requestRecords,
    certificateWarnings: new CertificateWarnings(lower),
    directoryWarnings: new DirectoryWarnings(lower),
    signUpNotices: new SignUpNotices(lower),
    delegationKeys: new DelegationKeys(lower),
    delegationRequests: new DelegationRequests(lower),
    factorChanges: new FactorChanges({ ...lower, factors: lower.mfa }),
    seed: new Seed(lower),
  };
}

/** Webhooks and log streams, and the configuration of a project, which includes them. */
function withDeliveries(lower: ReturnType<typeof withAccounts>, ports: Ports, settings: DomainSettings) {
  const { allowPrivateTargets } = settings;
  const unreachable = async () => ({ error: 'no network' });
  const webhooks = new Webhooks({ ...lower, allowPrivateTargets });
  const reach = { allowPrivate: allowPrivateTargets, hasFolder: ports.hasStreamFolder ?? false };
  const logStreams = new LogStreams({ ...lower, reach });
  const webhookChannel = new WebhookChannel({
    ...lower,
    post: ports.postWebhook ?? unreachable,
    onAttempt: ports.onWebhook,
  });
  const streamChannel = new StreamChannel({
    ...lower,
    send: ports.sendBatch ?? unreachable,
    host: new URL(settings.issuer).hostname,
    onBatch: ports.onBatch,
  });
  const webhookRelay = new Relay({ ...lower, channel: webhookChannel });
  const streamRelay = new Relay({ ...lower, channel: streamChannel });
  return {
    ...lower,
    webhooks,
    webhookRelay,
    logStreams,
    streamRelay,
    relays: [lower.delivery.relay, lower.logout.relay, webhookRelay, streamRelay],
    configurations: new Configurations({ ...lower, webhooks, logStreams }),
  };
}

/** Operations of the instance itself. */
function withInstance(lower: ReturnType<typeof withDeliveries>, ports: Ports, settings: DomainSettings) {
  const backups = new Backups(lower);
  const processes = new Processes({ ...lower, runtime: ports.runtime ?? noRuntime, follow: ports.follow });
  const days = settings.auditRetentionDays ?? 0;
  return {
    ...lower,
    activity: new Activity(lower),
    auditRetention: new AuditRetention({ ...lower, days, archive: ports.eventArchive ?? null }),
    backups,
    masterKeyChange: new MasterKeyChange(lower),
    processes,
    systemStatus: new SystemStatus({
      ...lower,
      processes,
      backups,
      gauge: ports.gauge,
      untrustedProxy: ports.untrustedProxy,
    }),
  };
}
