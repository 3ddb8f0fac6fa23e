import type { MikroORM } from '@mikro-orm/postgresql';
import { AccountAccess } from './domain/accounts/account-access.ts';
import { Accounts } from './domain/accounts/accounts.ts';
import { Invitations } from './domain/accounts/invitations.ts';
import { NewUsers } from './domain/accounts/new-users.ts';
import { OwnAccount } from './domain/accounts/own-account.ts';
import { OwnAuthenticator } from './domain/accounts/own-authenticator.ts';
import { Recoveries } from './domain/accounts/recoveries.ts';
import { AdminClients } from './domain/admins/admin-clients.ts';
import { AdminInvitations } from './domain/admins/admin-invitations.ts';
import { Admins } from './domain/admins/admins.ts';
import { DirectoryWarnings } from './domain/admins/directory-warnings.ts';
import { Seed } from './domain/admins/seed.ts';
import { Apis } from './domain/apis/apis.ts';
import { IssuerKeys } from './domain/apis/issuer-keys.ts';
import { Activity } from './domain/audit/activity.ts';
import type { EventArchive } from './domain/audit/archive.ts';
import { Audit } from './domain/audit/audit.ts';
import { AuditRetention } from './domain/audit/audit-retention.ts';
import { SigninCallers } from './domain/ceremonies/callers.ts';
import { Ceremonies } from './domain/ceremonies/ceremonies.ts';
import { recordCodeEvent } from './domain/ceremonies/code-events.ts';
import { endOpenWork } from './domain/ceremonies/open-work.ts';
import { Recipients } from './domain/ceremonies/recipients.ts';
import { AuthorizationRequests } from './domain/ceremonies/requests/authorization-requests.ts';
import { Authorizations } from './domain/ceremonies/requests/authorizations.ts';
import { DeviceApprovals } from './domain/ceremonies/requests/device-approvals.ts';
import { PushedRequests } from './domain/ceremonies/requests/pushed-requests.ts';
import { Retention } from './domain/ceremonies/retention.ts';
import { Trials } from './domain/ceremonies/steps/trials.ts';
import { Claims } from './domain/claims/claims.ts';
import { ClientAssertions } from './domain/clients/client-assertions.ts';
import { ClientRegistry } from './domain/clients/client-registry.ts';
import { ClientSecrets } from './domain/clients/client-secrets.ts';
import { Clients } from './domain/clients/clients.ts';
import { DpopNonces } from './domain/clients/dpop/dpop-nonces.ts';
import { DpopProofs } from './domain/clients/dpop/dpop-proofs.ts';
import { Origins } from './domain/clients/origins.ts';
import { type FetchJson, RemoteKeys } from './domain/clients/remote-keys.ts';
import { Configurations } from './domain/configuration/configurations.ts';
import { Consents } from './domain/consents/consents.ts';
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
import { Domains, type ReadTxt } from './domain/domains/domains.ts';
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
import { defaultSchedule } from './domain/keys/schedule.ts';
import { Signer } from './domain/keys/signer.ts';
import { Vault } from './domain/keys/vault.ts';
import { Limits } from './domain/limits/limits.ts';
import { Logout, type PostLogoutToken } from './domain/logout/logout.ts';
import { Mfa } from './domain/mfa/mfa.ts';
import { Guessing } from './domain/otp/guessing.ts';
import { Otp } from './domain/otp/otp.ts';
import { Sends } from './domain/otp/sends.ts';
import { PhoneChanges } from './domain/phones/phone-changes.ts';
import { Issuers } from './domain/projects/issuers.ts';
import { Projects } from './domain/projects/projects.ts';
import { Roles } from './domain/roles/roles.ts';
import { Sessions } from './domain/sessions/sessions.ts';
import { SmsGuard } from './domain/sms/sms-guard.ts';
import { type SendBatch } from './domain/streams/batch.ts';
import type { StreamKind } from './domain/streams/log-stream.entity.ts';
import { LogStreams } from './domain/streams/log-streams.ts';
import { StreamRelay } from './domain/streams/stream-relay.ts';
import { SignInForecast } from './domain/support/view-as.ts';
import { ClientTokens } from './domain/tokens/client-tokens.ts';
import { DeviceAuthorizations } from './domain/tokens/device/device-authorizations.ts';
import { Introspection } from './domain/tokens/introspection.ts';
import { RefreshGrants } from './domain/tokens/refresh-grants.ts';
import { RefreshTokens } from './domain/tokens/refresh-tokens.ts';
import { RevocableTokens } from './domain/tokens/revocable-tokens.ts';
import { TokenRefusals } from './domain/tokens/token-refusals.ts';
import { Tokens } from './domain/tokens/tokens.ts';
import { CustomAttributes } from './domain/users/custom/custom-attributes.ts';
import { Groups } from './domain/users/groups.ts';
import { LocalGroups } from './domain/users/local-groups.ts';
import { Users } from './domain/users/users.ts';
import { WebhookRelay } from './domain/webhooks/webhook-relay.ts';
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
  /** Absent: webhooks cannot be reached. */
  postWebhook?: PostWebhook;
  /** Absent: log streams cannot be reached. */
  sendBatch?: SendBatch;
  /** Whether {@link sendBatch} writes files. */
  hasStreamFolder?: boolean;
  /** Reads the key sets of clients. Absent: none can be read. */
  fetchJson?: FetchJson;
  /** Reads TXT records. Absent: none can be read. */
  readTxt?: ReadTxt;
  /** Called for each event of the audit log, for metrics. */
  onEvent?(type: string, result: string): void;
  /** Called for each attempt to deliver an event to a webhook, for metrics. */
  onWebhook?(result: 'delivered' | 'failed'): void;
  /** Called for each batch of a log stream, for metrics. */
  onBatch?(kind: StreamKind, result: 'delivered' | 'failed'): void;
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
  allowPrivateLogoutTargets: boolean;
  /** Retention of audit events; absent or 0: forever. */
  auditRetentionDays?: number;
  /** Sign-ins that one network may begin in a minute; absent: unlimited. */
  challengesPerMinute?: number;
  /** False disables shortcuts, for the test that compares both; absent: true. */
  signInShortcuts?: boolean;
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

/** Builds the domain, lowest layer first. Each service takes one object and names in its type the parts that it needs. */
export function buildServices(ports: Ports, settings: DomainSettings) {
  const { orm, clock, random, queue, senders } = ports;
  const { issuer, allowPrivateLogoutTargets } = settings;
  const db = new Database(orm);
  const audit = new Audit({ clock, random, onRecord: ports.onEvent });
  const vault = new Vault(settings.masterKey, random, settings.secondMasterKey);
  const limits = new Limits({ clock, keysOf: (subject) => vault.macs('budget', '', subject) });
  const base = { db, clock, random, queue, senders, issuer, audit, vault, limits };

  const activity = new Activity(base);
  const auditRetention = new AuditRetention({
    ...base,
    days: settings.auditRetentionDays ?? 0,
    archive: ports.eventArchive ?? null,
  });
  const smsGuard = new SmsGuard(base);
  const issuers = new Issuers(base);
  const keys = new Keys({ ...base, schedule: defaultSchedule });
  const signer = new Signer({ ...base, keys });
  const projects = new Projects({ ...base, canSendSms: senders.sms !== null });
  const { testMode } = projects;
  const experiences = new Experiences(base);
  const lookOf = (projectId: string, locale: Locale) => experiences.mailLook(db.reader(), projectId, locale);
  const clientSecrets = new ClientSecrets(base);
  const clients = new Clients({ ...base, secrets: clientSecrets, allowPrivateLogoutTargets });
  const registry = new ClientRegistry(base);
  const assertions = new ClientAssertions({
    clock,
    remoteKeys: new RemoteKeys({ clock, fetchJson: ports.fetchJson ?? (async () => ({ error: 'no network' })) }),
  });
  const dpopNonces = new DpopNonces(base);
  const dpopProofs = new DpopProofs({ clock, nonces: dpopNonces });
  const apis = new Apis(base);
  const issuerKeys = new IssuerKeys({ db, keys, clock });
  const origins = new Origins(base);
  orm.em.getEventManager().registerSubscriber(origins);
  const users = new Users(base);
  const customAttributes = new CustomAttributes({ ...base, clearTexts });
  const groups = new Groups(base);
  const roles = new Roles(base);
  const claims = new Claims(base);
  const admins = new Admins({ ...base, users });

  const recipients = new Recipients({ users, setupLinks: admins });
  const delivery = new Delivery({
    ...base,
    lookOf,
    check: (em, message, context) => recipients.check(em, message, context),
    settled: (em, message, context) => recordCodeEvent(audit, em, message, context),
    onExpired: ports.onExpired,
  });
  const senderTests = new SenderTests({ ...base, smsGuard, delivery, lookOf });
  const devices = new Devices(base);
  const passkeys = new Passkeys(base);
  const mfa = new Mfa(base);
  const otp = new Otp(base);
  const sends = new Sends(base);
  const guessing = new Guessing(base);
  const codes = { users, mfa, otp, sends, smsGuard, delivery, testMode };
  const phones = new PhoneChanges({ ...base, ...codes, endOpenWork });
  const sessions = new Sessions(base);
  const tokens = new Tokens({ ...base, signer, clients: registry.cached, applicationClaims: claims });
  const tokenRefusals = new TokenRefusals(base);
  const refreshTokens = new RefreshTokens({ ...base, tokens });
  const clientTokens = new ClientTokens({ ...base, signer });
  const introspection = new Introspection({ ...base, signer });
  const adminClients = new AdminClients({ ...base, issuers, signer });
  const refreshGrants = new RefreshGrants(base);
  const revocableTokens = new RevocableTokens({ ...base, signer });

  const requests = new AuthorizationRequests(base);
  const perMinute = settings.authorizationsPerMinute ?? Number.POSITIVE_INFINITY;
  const consents = new Consents(base);
  const authorizations = new Authorizations({ ...base, sessions, tokens, requests, consents, perMinute });
  const pushedRequests = new PushedRequests({ ...base, perMinute });
  const deviceAuthorizations = new DeviceAuthorizations({ ...base, perMinute });
  const deviceApprovals = new DeviceApprovals({
    ...base,
    sessions,
    requests,
    consents,
    deviceAuthorizations,
    perMinute,
  });
  const trials = new Trials({ ...base, requests, tokens, signer });
  const callers = new SigninCallers({ ...base, clients: registry, requests });
  const ceremonies = new Ceremonies({
    ...base,
    ...codes,
    devices,
    passkeys,
    guessing,
    phones,
    recipients,
    sessions,
    tokens,
    callers,
    setupLinks: admins,
    challengesPerMinute: settings.challengesPerMinute ?? Number.POSITIVE_INFINITY,
    takesShortcuts: settings.signInShortcuts ?? true,
  });
  const retention = new Retention(base);

  const delegationKeys = new DelegationKeys(base);
  const delegationRequests = new DelegationRequests(base);
  const factorChanges = new FactorChanges({ ...base, ...codes, factors: mfa, passkeys, phones });
  const domains = new Domains({ ...base, readTxt: ports.readTxt ?? (async () => 'unavailable') });
  const logout = new Logout({ ...base, sessions, signer, post: ports.postLogoutToken });
  const domainEnd = new DomainEnd({ ...base, logout });
  const directories = new Directories(base);
  const requestRecords = new RequestRecords(base);
  const directoryWarnings = new DirectoryWarnings({ ...base, directories, delivery });
  const adminInvitations = new AdminInvitations({ ...base, admins, delivery });
  const seed = new Seed({ ...base, projects, clients });
  const accounts = new Accounts({ ...base, users, sessions, customAttributes });
  const person = { users, devices, passkeys, consents, sessions, mfa, logout };
  const forecast = new SignInForecast({ devices, passkeys, mfa, delivery, testMode, consents });
  const accountAccess = new AccountAccess({ ...base, ...person, accounts, admins, delivery });
  const invitations = new Invitations({ ...base, users, accounts, admins, delivery, issuers });
  const newUsers = new NewUsers({ ...base, customAttributes, invitations });
  const recoveries = new Recoveries({ ...base, users, mfa, delivery, issuers });
  const ownAccount = new OwnAccount({
    ...base,
    ...person,
    authorizations,
    customAttributes,
    delivery,
    phones,
    testMode,
    requests,
    recoveries,
    refreshGrants,
  });
  const ownAuthenticator = new OwnAuthenticator({ ...base, ...person, delivery, requests });
  const webhooks = new Webhooks({ ...base, allowPrivateLogoutTargets });
  const webhookRelay = new WebhookRelay({
    ...base,
    delivery,
    post: ports.postWebhook ?? (async () => ({ error: 'no network' })),
    onAttempt: ports.onWebhook,
  });
  const reach = { allowPrivate: allowPrivateLogoutTargets, hasFolder: ports.hasStreamFolder ?? false };
  const logStreams = new LogStreams({ ...base, reach });
  const configurations = new Configurations({
    ...{
      ...base,
      projects,
      clients,
      roles,
      claims,
      apis,
      customAttributes,
      experiences,
      domains,
      webhooks,
      logStreams,
    },
  });
  const streamRelay = new StreamRelay({
    ...base,
    send: ports.sendBatch ?? (async () => ({ error: 'no network' })),
    host: new URL(issuer).hostname,
    onBatch: ports.onBatch,
  });
  const backups = new Backups(base);
  const masterKeyChange = new MasterKeyChange(base);
  const processes = new Processes({ ...base, runtime: ports.runtime ?? noRuntime, follow: ports.follow });
  const systemStatus = new SystemStatus({ ...base, processes, backups, gauge: ports.gauge });
  return {
    db,
    audit,
    activity,
    limits,
    vault,
    keys,
    signer,
    issuers,
    projects,
    testMode,
    experiences,
    configurations,
    clients,
    registry,
    assertions,
    dpopNonces,
    dpopProofs,
    pushedRequests,
    clientSecrets,
    apis,
    issuerKeys,
    origins,
    tokenRefusals,
    refreshGrants,
    refreshTokens,
    clientTokens,
    introspection,
    revocableTokens,
    users,
    customAttributes,
    groups,
    localGroups: new LocalGroups({ groups }),
    roles,
    claims,
    delivery,
    senderTests,
    devices,
    passkeys,
    mfa,
    otp,
    phones,
    sessions,
    tokens,
    requests,
    consents,
    authorizations,
    deviceAuthorizations,
    deviceApprovals,
    trials,
    callers,
    ceremonies,
    delegationKeys,
    delegationRequests,
    factorChanges,
    logout,
    domains,
    domainEnd,
    directories,
    directoryWarnings,
    requestRecords,
    admins,
    adminClients,
    adminInvitations,
    accounts,
    accountAccess,
    forecast,
    invitations,
    newUsers,
    ownAccount,
    ownAuthenticator,
    recoveries,
    seed,
    retention,
    auditRetention,
    webhooks,
    webhookRelay,
    logStreams,
    streamRelay,
    backups,
    masterKeyChange,
    processes,
    systemStatus,
    senders,
  };
}
