import { t } from '../language/language.ts';
/** Names of the server's background jobs, by queue. */
export const jobNames: Record<string, string> = {
  'domains.end': t('Clean up removed domains'),
  'domains.check': t('Check custom domains'),
  'connections.refresh': t('Refresh metadata of connections'),
  'keys.tend': t('Maintain signing keys'),
  'activity.count': t('Aggregate daily activity'),
  'projects.test-mode': t('End test mode of large projects'),
  'recoveries.expire': t('End expired recoveries'),
  'accounts.delete': t('Delete accounts that users asked to delete'),
  'directories.warn': t('Warn of expiring directory tokens'),
  'sign-ups.announce': t('Mail admins about sign-up requests'),
  'sweep.budgets': t('Delete expired rate limits'),
  'sweep.codes': t('Delete one-time codes'),
  'sweep.custom-attributes': t('Delete values of removed attributes'),
  'sweep.events': t('Delete old events'),
  'sweep.logos': t('Delete unused logos'),
  'sweep.messages': t('Delete old messages'),
  'sweep.organization-invitations': t('Delete old invitations'),
  'sweep.portal-links': t('Delete old portal links'),
  'sweep.request-records': t('Delete old directory requests'),
  'sweep.rest': t('Delete other expired data'),
};
