import { RemoveGroupMembers } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { stale } from './stale.ts';

interface LeaveGroupProps {
  /** Absent: the dialog is closed. */
  member: { userId: string; userName: string; groupId: string; groupName: string } | undefined;
  onClose(): void;
}

/** Confirms that a user leaves a group. */
export function LeaveGroup({ member, onClose }: LeaveGroupProps) {
  return (
    <ConfirmMutation
      title={t('Remove {user} from {group}?', { user: member?.userName, group: member?.groupName })}
      verb={t('Remove member')}
      operation={RemoveGroupMembers}
      variables={member && { input: { groupId: member.groupId, userIds: [member.userId] } }}
      invalidates={stale}
      done={t('Member removed')}
      onClose={onClose}
    >
      <p>{t('The user loses the roles of the group with the next tokens.')}</p>
    </ConfirmMutation>
  );
}
