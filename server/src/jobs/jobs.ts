/**
 * Background jobs: queued (the end of a domain, of access or of a membership) and periodic (sweeps, key rotation). The job queue runs and retries them.
 * Deliveries are not jobs: see `domain/relay/`.
 */
import { endAccessJob } from '../domain/access/access-losses.ts';
import type { AccountDeletions } from '../domain/accounts/deletions/account-deletions.ts';
import type { OrganizationInvitations } from '../domain/accounts/organization-invitations.ts';
import type { Recoveries } from '../domain/accounts/recoveries.ts';
import type { CertificateWarnings } from '../domain/admins/certificate-warnings.ts';
import type { DirectoryWarnings } from '../domain/admins/directory-warnings.ts';
import type { SignUpNotices } from '../domain/admins/sign-up-notices.ts';
import type { Activity } from '../domain/audit/activity.ts';
import type { AuditRetention } from '../domain/audit/audit-retention.ts';
import type { Retention } from '../domain/ceremonies/retention.ts';
import type { ApplicationCertificates } from '../domain/clients/saml/application-certificates.ts';
import type { MetadataRefresh } from '../domain/connections/saml/metadata-refresh.ts';
import type { Delivery } from '../domain/delivery/delivery.ts';
import type { RequestRecords } from '../domain/directories/request-records.ts';
import type { DomainEnd, LostDomain } from '../domain/domains/domain-end.ts';
import { type Domains, endDomainJob } from '../domain/domains/domains.ts';
import type { Experiences } from '../domain/experience/experiences.ts';
import type { Database } from '../domain/kernel/database.ts';
import type { JobTable } from '../domain/kernel/queue.ts';
import { inProject } from '../domain/kernel/scope.ts';
import type { Keys } from '../domain/keys/keys.ts';
import type { Limits } from '../domain/limits/limits.ts';
import type { LostAccessEnd } from '../domain/logout/lost-access-end.ts';
import type { LostMembershipEnd } from '../domain/logout/lost-membership-end.ts';
import type { OrganizationDomains } from '../domain/organizations/domains/organization-domains.ts';
import { endMembershipJob, type LostMembership } from '../domain/organizations/membership-losses.ts';
import type { Otp } from '../domain/otp/otp.ts';
import type { PortalLinks } from '../domain/portal/portal-links.ts';
import type { LostAccess } from '../domain/projects/lost-access.ts';
import type { Projects } from '../domain/projects/projects.ts';
import type { Impersonations } from '../domain/support/impersonations.ts';
import type { CustomAttributes } from '../domain/users/custom/custom-attributes.ts';

export interface JobsDeps {
  db: Database;
  delivery: Delivery;
  keys: Keys;
  otp: Otp;
  projects: Projects;
  limits: Limits;
  retention: Retention;
  recoveries: Recoveries;
  accountDeletions: AccountDeletions;
  certificateWarnings: CertificateWarnings;
  directoryWarnings: DirectoryWarnings;
  signUpNotices: SignUpNotices;
  auditRetention: AuditRetention;
  experiences: Experiences;
  customAttributes: CustomAttributes;
  activity: Activity;
  metadataRefresh: MetadataRefresh;
  applicationCertificates: ApplicationCertificates;
  requestRecords: RequestRecords;
  domains: Domains;
  organizationDomains: OrganizationDomains;
  domainEnd: DomainEnd;
  lostAccessEnd: LostAccessEnd;
  lostMembershipEnd: LostMembershipEnd;
  organizationInvitations: OrganizationInvitations;
  portalLinks: PortalLinks;
  impersonations: Impersonations;
}

export function jobs(deps: JobsDeps): JobTable {
  return { queued: queuedJobs(deps), periodic: periodicJobs(deps), retired };
}

/** Servers from before release 1.0 queued them, and commit 5ffac69 polls their queues. The release after 1.0 drops the queues. */
const retired = [
  'delivery.codes',
  'delivery.notices',
  'delivery.sms',
  'delivery.send',
  'delivery.recover',
  'logout.deliver',
  'logout.recover',
];

function queuedJobs({ domainEnd, lostAccessEnd, lostMembershipEnd }: JobsDeps): JobTable['queued'] {
  return [
    {
      // Idempotent: it ends only rows that are still open.
      name: endDomainJob,
      run: (data) => {
        const lost = data as unknown as LostDomain;
        return inProject(lost.projectId, () => domainEnd.end(lost));
      },
      workers: 1,
      timeoutSeconds: 15 * 60,
      retries: { limit: 10, firstSeconds: 30, longestSeconds: 3600 },
    },
    {
      // Idempotent: it ends only what is live, and notifies each application once.
      name: endAccessJob,
      run: (data) => {
        const lost = data as unknown as LostAccess;
        return inProject(lost.projectId, () => lostAccessEnd.end(lost));
      },
      workers: 1,
      timeoutSeconds: 15 * 60,
      retries: { limit: 10, firstSeconds: 5, longestSeconds: 3600 },
    },
    {
      // Idempotent, as above.
      name: endMembershipJob,
      run: (data) => {
        const lost = data as unknown as LostMembership;
        return inProject(lost.projectId, () => lostMembershipEnd.end(lost));
      },
      workers: 1,
      timeoutSeconds: 15 * 60,
      retries: { limit: 10, firstSeconds: 5, longestSeconds: 3600 },
    },
  ];
}

function periodicJobs({ db, delivery, projects, experiences, ...deps }: JobsDeps): JobTable['periodic'] {
  return [
    { name: 'keys.tend', everyMinutes: 15, run: () => deps.keys.maintain() },
    { name: 'sweep.budgets', everyMinutes: 15, run: () => deps.limits.sweep(db.alone) },
    { name: 'sweep.codes', everyMinutes: 15, run: () => deps.otp.sweep(db.alone) },
    { name: 'projects.test-mode', everyMinutes: 5, run: endTestModes },
    { name: 'sweep.messages', everyMinutes: 5, run: () => delivery.sweep() },
    { name: 'sweep.request-records', everyMinutes: 60, run: () => deps.requestRecords.sweep() },
    { name: 'sweep.logos', everyMinutes: 60, run: () => db.transaction((em) => experiences.sweep(em)) },
    { name: 'activity.count', everyMinutes: 30, run: () => deps.activity.count() },
    { name: 'sweep.events', everyMinutes: 60, run: sweepEvents },
    { name: 'domains.check', everyMinutes: 5, run: checkDomains },
    { name: 'connections.refresh', everyMinutes: 5, run: () => deps.metadataRefresh.runDue() },
    { name: 'applications.refresh', everyMinutes: 5, run: () => deps.applicationCertificates.refreshDue() },
    { name: 'applications.warn', everyMinutes: 60, run: () => deps.applicationCertificates.warnDue() },
    { name: 'recoveries.expire', everyMinutes: 15, run: () => deps.recoveries.expire() },
    { name: 'accounts.delete', everyMinutes: 5, run: () => deps.accountDeletions.runDue() },
    { name: 'connections.warn', everyMinutes: 60, run: () => deps.certificateWarnings.send() },
    { name: 'directories.warn', everyMinutes: 60, run: () => deps.directoryWarnings.send() },
    { name: 'sign-ups.announce', everyMinutes: 5, run: () => deps.signUpNotices.send() },
    { name: 'impersonations.end', everyMinutes: 1, run: () => deps.impersonations.sweep() },
    { name: 'sweep.custom-attributes', everyMinutes: 1, run: () => deps.customAttributes.sweep() },
    { name: 'sweep.organization-invitations', everyMinutes: 60, run: () => deps.organizationInvitations.sweep() },
    { name: 'sweep.portal-links', everyMinutes: 60, run: () => deps.portalLinks.sweep() },
    { name: 'sweep.rest', everyMinutes: 30, run: () => deps.retention.sweep() },
  ];

  async function checkDomains(): Promise<void> {
    const checked = await Promise.allSettled([deps.domains.checkDue(), deps.organizationDomains.checkDue()]);
    for (const one of checked) if (one.status === 'rejected') throw one.reason;
  }

  async function sweepEvents(): Promise<void> {
    await deps.auditRetention.advance();
    await deps.auditRetention.sweep();
  }

  function endTestModes(): Promise<void> {
    return db.transaction((em) => projects.endTestModes(em, 'user-limit'));
  }
}
