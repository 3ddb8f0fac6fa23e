import { useNavigate } from 'react-router';
import { useQuery } from '../api.ts';
import { AuditEvents, DeleteGroup, type GroupDetailsFragment, GroupMembers, Groups } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { request } from '../ui/code/show-graphql.tsx';
import { useDialog } from '../ui/feedback/use-dialog.tsx';
import { GroupForm } from './group-form.tsx';

/** Renames or deletes a group that no directory owns. */
export function GroupActions({ group }: { group: GroupDetailsFragment }) {
  const path = useProjectPath();
  const navigate = useNavigate();
  const [dialog, { open, confirm }] = useDialog();
  const { id, displayName: name } = group;
  const rename = () => open(t('Rename the group'), (close) => <GroupForm group={group} onClose={close} />);
  const remove = () =>
    confirm({
      title: t('Delete the group {name}?', { name }),
      effect: <Loss id={id} />,
      verb: t('Delete group'),
      name,
      request: request(DeleteGroup, { id }),
      invalidates: [Groups, AuditEvents],
      done: t('Group deleted'),
      onDone: () => void navigate(path('groups')),
    });
  return (
    <>
      <SecondaryButton onClick={rename}>{t('Rename')}</SecondaryButton>
      <SecondaryButton c="var(--bad)" onClick={remove}>
        {t('Delete')}
      </SecondaryButton>
      {dialog}
    </>
  );
}

function Loss({ id }: { id: string }) {
  const count = useQuery(GroupMembers, { id }).data?.group?.memberCount;
  return (
    <p>
      {count === undefined
        ? t('Members lose its roles. The users stay.')
        : t('{count, plural, one {# member loses} other {# members lose}} its roles. The users stay.', { count })}
    </p>
  );
}
