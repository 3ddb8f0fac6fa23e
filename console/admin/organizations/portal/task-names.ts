import type { PortalTask } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';

/** The steps that a portal link can allow, in the order of the portal. */
export const taskNames: Record<PortalTask, string> = {
  DOMAINS: t('Mail domains'),
  CONNECTION: t('Single sign-on'),
  DIRECTORY: t('Directory'),
};
