import type { MikroORM } from '@mikro-orm/postgresql';
import { AccountAccess } from './domain/accounts/account-access.ts';
import { Accounts } from './domain/accounts/accounts.ts';
import { OwnAccount } from './domain/accounts/own-account.ts';
import { Admins } from './domain/admins/admins.ts';
import { Seed } from './domain/admins/seed.ts';
import { SetupLink } from './domain/admins/setup-link.entity.ts';
import { Activity } from './domain/audit/activity.ts';
import { Audit } from './domain/audit/audit.ts';
import { AuditRetention } from './domain/audit/audit-retention.ts';
import { AuthorizationRequests } from './domain/ceremonies/authorization-requests.ts';
import { Authorizations } from './domain/ceremonies/authorizations.ts';
import { Callers } from './domain/ceremonies/callers.ts';
import { Ceremonies } from './domain/ceremonies/ceremonies.ts';
import { recordCodeEvent } from './domain/ceremonies/code-events.ts';
import { endOpenWork } from './domain/ceremonies/open-work.ts';
import { Recipients, type SetupLinks } from './domain/ceremonies/recipients.ts';
import { Retention } from './domain/ceremonies/retention.ts';
import { Trials } from './domain/ceremonies/trials.ts';
import { ClientAssertions } from './domain/clients/client-assertions.ts';
import { ClientRegistry } from './domain/clients/client-registry.ts';
import { Clients } from './domain/clients/clients.ts';
import { Origins } from './domain/clients/origins.ts';
import { DelegationKeys } from './domain/delegation/delegation-keys.ts';
import { FactorChanges } from './domain/delegation/factor-changes.ts';
import { DelegationRequests } from './domain/delegation/requests.ts';
import { Delivery } from './domain/delivery/delivery.ts';
import type { Locale } from './domain/delivery/locale.ts';
import type { MailSender, SmsSender } from './domain/delivery/sender.ts';
import { SenderTests } from './domain/delivery/sender-tests.ts';
import { Devices } from './domain/devices/devices.ts';
import { Directories } from './domain/directories/directories.ts';
import { RequestRecords } from './domain/directories/request-records.ts';
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
import { Projects } from './domain/projects/projects.ts';
import { Sessions } from './domain/sessions/sessions.ts';
import { SmsGuard } from './domain/sms/sms-guard.ts';
import { TokenRefusals } from './domain/tokens/token-refusals.ts';
import { Tokens } from './domain/tokens/tokens.ts';
import { Groups } from './domain/users/groups.ts';
import { Users } from './domain/users/users.ts';

/** What the domain needs of the outside world. */
export interface Ports {
  orm: MikroORM;
  clock: Clock;
  random: Random;
  queue: Queue;
  /** Null where messages of this kind cannot be sent. */
  senders: { mail: MailSender | null; sms: SmsSender | null };
  postLogoutToken: PostLogoutToken;
  /** Told of each event of the audit log, for counting. */
  onEvent?(type: string, result: string): void;
  /** Absent where no jobs are done. */
  gauge?: QueueGauge;
  /** Absent in a command, which is over in a moment. */
  runtime?: Runtime;
}

/** What the domain is told of its settings. */
export interface DomainSettings {
  issuer: string;
  /** 32 bytes. */
  masterKey: Uint8Array;
  /** Opens what it sealed, and never seals. */
  secondMasterKey?: Uint8Array | undefined;
  allowPrivateLogoutTargets: boolean;
  /** How long events of the audit log are kept; absent or 0: for ever. */
  auditRetentionDays?: number;
  /** Sign-ins that one network may begin in a minute; absent: any number. */
  challengesPerMinute?: number;
  /** False: no step takes its shortcut, for the test that compares both; absent: true. */
  signInShortcuts?: boolean;
  /** Authorization requests that one network may leave waiting in a minute; absent: any number. */
  authorizationsPerMinute?: number;
}

const noRuntime: Runtime = {
  ...{ host: 'here', pid: 0, version: 'unknown', nodeVersion: 'unknown', signMicroseconds: null, migrations: [] },
};

export type Services = ReturnType<typeof buildServices>;

/** The domain, put together once: lowest rung first. */
export function buildServices(ports: Ports, settings: DomainSettings) {
  const { orm, clock, random, queue, senders } = ports;
  const { issuer } = settings;
  const db = new Database(orm);
  const audit = new Audit(clock, random, ports.onEvent);
  const activity = new Activity(db, clock);
  const auditRetention = new AuditRetention(db, clock, audit, settings.auditRetentionDays ?? 0);
  const vault = new Vault(settings.masterKey, random, settings.secondMasterKey);
  const limits = new Limits(clock, (subject) => vault.macs('budget', '', subject));
  const smsGuard = new SmsGuard(limits, audit);
  const keys = new Keys(db, vault, clock, audit, defaultSchedule);
  const signer = new Signer(keys, clock, issuer);
  const projects = new Projects(db, clock, random, audit, issuer, senders.sms !== null);
  const { testMode } = projects;
  const experiences = new Experiences(db, clock, random, audit, limits);
  const clients = new Clients(db, clock, random, audit, settings);
  const registry = new ClientRegistry(db, clock);
  const assertions = new ClientAssertions(clock, [`${issuer}/oauth2/token`, issuer]);
  const origins = new Origins(db, clock);
  ports.orm.em.getEventManager().registerSubscriber(origins);
  const users = new Users(clock, random, audit);
  const groups = new Groups(db, clock, random, audit);
  // Admins stand above sign-in, which asks them about set-up links alone.
  const setupLinks: SetupLinks = {
    isOpen: async (em, id) => (await em.count(SetupLink, { id, usedAt: null, expiresAt: { $gt: clock.now() } })) === 1,
    claim: (em, id, userId, actor) => admins.claim(em, id, userId, actor),
  };
  const recipients = new Recipients(users, setupLinks);
  const judge = recipients.judge.bind(recipients);
  const lookOf = (projectId: string, locale: Locale) => experiences.mailLook(db.reader(), projectId, locale);
  const delivery = new Delivery({
    ...{ db, clock, random, vault, queue, senders, judge, lookOf },
    settled: (em, message, context) => recordCodeEvent(audit, em, message, context),
  });
  const senderTests = new SenderTests({ db, clock, random, audit, limits, delivery, lookOf });
  const mfa = new Mfa(clock, random, vault, audit);
  const otp = new Otp(clock, random, vault, limits);
  const sends = new Sends(limits);
  const guessing = new Guessing(clock, vault, limits);
  const phones = new PhoneChanges({
    ...{ clock, random, audit, users, mfa, otp, sends, smsGuard, delivery, testMode, endOpenWork },
  });
  const sessions = new Sessions(clock, random, audit);
  const tokens = new Tokens(db, clock, random, audit, signer);
  const requests = new AuthorizationRequests(clock, random, issuer);
  const authorizations = new Authorizations(
    { db, limits, sessions, tokens, requests },
    settings.authorizationsPerMinute ?? Number.POSITIVE_INFINITY,
  );
  const trials = new Trials({ db, random, vault, audit, requests, tokens, signer });
  const tokenRefusals = new TokenRefusals(db, audit);
  const logout = new Logout({ db, clock, random, audit, sessions, signer, queue, post: ports.postLogoutToken });
  const directories = new Directories(db, clock, random, audit);
  const requestRecords = new RequestRecords(db, clock, random);
  const admins = new Admins(db, clock, random, audit, users, issuer);
  const accounts = new Accounts(db, clock, audit, users, (em, userId, reason, actor) =>
    sessions.endAllOfUser(em, userId, reason, actor),
  );
  const devices = new Devices(clock, random, audit);
  const accountAccess = new AccountAccess({ db, clock, users, accounts, admins, devices, sessions, mfa, logout });
  const ownAccount = new OwnAccount({
    db,
    clock,
    audit,
    users,
    devices,
    sessions,
    mfa,
    logout,
    delivery,
    phones,
    testMode,
    ...{ random, requests, issuer },
  });
  const callers = new Callers(db, registry, requests, issuer);
  const ceremonies = new Ceremonies(
    {
      db,
      clock,
      random,
      audit,
      limits,
      users,
      devices,
      otp,
      smsGuard,
      sends,
      guessing,
      mfa,
      phones,
      delivery,
      recipients,
      sessions,
      tokens,
      setupLinks,
      testMode,
      callers,
      issuer,
    },
    settings.challengesPerMinute ?? Number.POSITIVE_INFINITY,
    settings.signInShortcuts ?? true,
  );
  const delegationKeys = new DelegationKeys(db, clock, random, vault, audit);
  const delegationRequests = new DelegationRequests(db, clock);
  const backups = new Backups(db, clock, random, audit);
  const masterKeyChange = new MasterKeyChange(db, clock, vault, audit);
  const factorChanges = new FactorChanges({
    db,
    clock,
    random,
    audit,
    users,
    factors: mfa,
    otp,
    smsGuard,
    sends,
    delivery,
    phones,
    testMode,
  });
  const processes = new Processes(db, clock, random, ports.runtime ?? noRuntime);
  const systemStatus = new SystemStatus({ clock, processes, backups, senders, gauge: ports.gauge });
  const retention = new Retention(db, clock);
  const seed = new Seed(db, clock, audit, projects, clients, issuer);
  return {
    db,
    audit,
    activity,
    limits,
    vault,
    keys,
    signer,
    projects,
    testMode,
    experiences,
    clients,
    registry,
    assertions,
    origins,
    tokenRefusals,
    users,
    groups,
    delivery,
    senderTests,
    devices,
    mfa,
    otp,
    phones,
    sessions,
    tokens,
    requests,
    authorizations,
    trials,
    callers,
    ceremonies,
    delegationKeys,
    delegationRequests,
    factorChanges,
    logout,
    directories,
    requestRecords,
    admins,
    accounts,
    accountAccess,
    ownAccount,
    seed,
    retention,
    auditRetention,
    backups,
    masterKeyChange,
    processes,
    systemStatus,
    senders,
  };
}
