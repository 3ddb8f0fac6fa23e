import { t } from '../language/language.ts';

interface Answer {
  status: number;
  scimType?: string | null;
}

const byType: Record<string, string> = {
  uniqueness: t(
    'Another user has this user name, email address or phone. Find it under Users, or match on another attribute in the directory.',
  ),
  invalidValue: t('Change the mapping of this attribute in the directory.'),
  invalidFilter: t('The filter does not parse. Set the unique identifier to userName.'),
  invalidPath: t('A PATCH path is not in the User schema. Change the mapping in the directory.'),
  noTarget: t('A PATCH targets a missing value, such as an email type that the user lacks.'),
  mutability: t('The directory changes a read-only attribute, such as id.'),
  tooMany: t('The request asks for too much at once. The text above explains how to narrow or split it.'),
};

const byStatus: Record<number, string> = {
  401: t('The token is wrong, expired or revoked. Issue another and set it in the directory.'),
  404: t('The user was deleted here. Restart provisioning of this user in the directory.'),
  409: t('It already exists.'),
  412: t('Concurrent change: the directory retries automatically.'),
  413: t('The request is too large. Reduce the directory’s batch size.'),
  429: t('Rate limit reached: the directory retries automatically.'),
};

/** Advice for a failed request, if the response suggests any. */
export function adviceFor({ status, scimType }: Answer): string | undefined {
  return (scimType ? byType[scimType] : undefined) ?? byStatus[status];
}
