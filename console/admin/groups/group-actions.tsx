import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useQuery } from '../api.ts';
import { AuditEvents, DeleteGroup, type GroupDetailsFragment, GroupMembers, Groups } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { ConfirmMutation } from '../ui/feedback/confirm.tsx';
import { GroupForm } from './group-form.tsx';

/** Renames or deletes a group that no directory owns. */
export function GroupActions({ group }: { group: GroupDetailsFragment }) {
  const path = useProjectPath();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const { data } = useQuery(GroupMembers, { id: group.id }, { pause: dialog !== 'delete' });
  const members = data?.group?.memberCount;
  const close = () => setDialog(undefined);
  return (
    <>
      <SecondaryButton onClick={() => setDialog('rename')}>{t('Rename')}</SecondaryButton>
      <SecondaryButton c="var(--bad)" onClick={() => setDialog('delete')}>
        {t('Delete')}
      </SecondaryButton>
      <Modal opened={dialog === 'rename'} onClose={close} title={t('Rename the group')}>
        {dialog === 'rename' && <GroupForm group={group} onClose={close} />}
      </Modal>
      <ConfirmMutation
        title={t('Delete the group {name}?', { name: group.displayName })}
        verb={t('Delete group')}
        operation={DeleteGroup}
        variables={dialog === 'delete' ? { id: group.id } : undefined}
        invalidates={[Groups, AuditEvents]}
        done={t('Group deleted')}
        name={group.displayName}
        onClose={close}
        onDone={() => void navigate(path('groups'))}
      >
        <p>
          {members === undefined
            ? t('Members lose its roles. The users stay.')
            : t('{count, plural, one {# member loses} other {# members lose}} its roles. The users stay.', {
                count: members,
              })}
        </p>
      </ConfirmMutation>
    </>
  );
}
