import { Group, Pill, Text } from '@mantine/core';
import { lazy } from 'react';
import { Link } from 'react-router';
import { useQuery } from '../../api.ts';
import { GroupsOfUser } from '../../generated/operations.ts';
import { leaving } from '../../groups/leaving.tsx';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { AddButton } from '../../ui/buttons.tsx';
import { atLeast } from '../../ui/counted.ts';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { useDialog } from '../../ui/feedback/use-dialog.tsx';
import { Section } from '../../ui/layout/page.tsx';

const AddMember = lazy(async () => ({ default: (await import('../../groups/add-member.tsx')).AddMember }));

/** Groups of the user; those of the directory can be changed only there. */
export function UserGroups({ user, mayChange }: { user: { id: string; name: string }; mayChange: boolean }) {
  const project = useProject();
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(GroupsOfUser, { projectId: project.id, userId: user.id });
  const [dialog, { open, confirm }] = useDialog();
  const add = () => open(t('Add to group'), (close) => <AddMember userId={user.id} onClose={close} />);
  const groups = data?.groups;
  const more = groups ? groups.totalCount - groups.edges.length : 0;
  return (
    <Section
      title={t('Groups')}
      lead={t('Groups of the directory are managed there.')}
      actions={
        mayChange && (
          <AddButton variant="default" onClick={add}>
            {t('Add to group')}
          </AddButton>
        )
      }
    >
      {failure && !groups ? (
        <LoadError failure={failure} subject={t('the list of groups')} retry={reload} />
      ) : groups?.edges.length === 0 ? (
        <Text c="dimmed">{t('In no group.')}</Text>
      ) : (
        <Group component="ul" gap="xs" mih="2rem" aria-busy={!groups}>
          {groups?.edges.map(({ node }) => (
            <Pill
              key={node.id}
              component="li"
              size="lg"
              fz="sm"
              withRemoveButton={mayChange && node.provenance === 'LOCAL'}
              removeButtonProps={{
                'aria-label': t('Remove from {name}', { name: node.displayName }),
                'aria-hidden': false,
                tabIndex: 0,
              }}
              onRemove={() => confirm(leaving(user, node))}
            >
              <Link to={path(`groups/${node.id}`)}>{node.displayName}</Link>
            </Pill>
          ))}
          {groups && more > 0 && <li>{t('and {count} more', { count: atLeast(more, groups.isTotalLimited) })}</li>}
        </Group>
      )}
      {dialog}
    </Section>
  );
}
