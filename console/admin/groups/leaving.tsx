import { RemoveGroupMembers } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { request } from '../ui/code/show-graphql.tsx';
import type { Confirmation } from '../ui/feedback/use-dialog.tsx';
import { stale } from './stale.ts';

/** Confirms the removal of a user from a group. */
export const leaving = (
  user: { id: string; name: string },
  group: { id: string; displayName: string },
): Confirmation => ({
  title: t('Remove {user} from {group}?', { user: user.name, group: group.displayName }),
  effect: <p>{t('The user loses the roles of the group with the next tokens.')}</p>,
  verb: t('Remove member'),
  request: request(RemoveGroupMembers, { input: { groupId: group.id, userIds: [user.id] } }),
  invalidates: stale,
  done: t('Member removed'),
});
