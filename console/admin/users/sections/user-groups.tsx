import { Button, Group, Modal, Pill, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { useQuery } from '../../api.ts';
import { GroupsOfUser } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { atLeast } from '../../ui/counted.ts';
import { LoadError } from '../../ui/feedback/errors.tsx';
import { LazyDialog } from '../../ui/feedback/lazy-dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Section } from '../../ui/layout/page.tsx';

const AddMember = lazy(async () => ({ default: (await import('../../groups/add-member.tsx')).AddMember }));
const LeaveGroup = lazy(async () => ({ default: (await import('../../groups/leave-group.tsx')).LeaveGroup }));

/** Groups of the user; those of the directory change only there. */
export function UserGroups({ user, mayChange }: { user: { id: string; name: string }; mayChange: boolean }) {
  const project = useProject();
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(GroupsOfUser, { projectId: project.id, userId: user.id });
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<{ id: string; displayName: string }>();
  const groups = data?.groups;
  const more = groups ? groups.totalCount - groups.edges.length : 0;
  return (
    <Section
      title={t('Groups')}
      lead={t('Groups of the directory are managed there.')}
      actions={
        mayChange && (
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
            {t('Add to group')}
          </Button>
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
              withRemoveButton={mayChange && node.provenance === 'LOCAL'}
              removeButtonProps={{
                'aria-label': t('Remove from {name}', { name: node.displayName }),
                'aria-hidden': false,
                tabIndex: 0,
              }}
              onRemove={() => setLeaving(node)}
            >
              <Link to={path(`groups/${node.id}`)}>{node.displayName}</Link>
            </Pill>
          ))}
          {groups && more > 0 && <li>{t('and {count} more', { count: atLeast(more, groups.isTotalLimited) })}</li>}
        </Group>
      )}
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={t('Add to a group')}>
        {isAdding && (
          <Suspense>
            <AddMember userId={user.id} onClose={() => setAdding(false)} />
          </Suspense>
        )}
      </Modal>
      {leaving && (
        <LazyDialog>
          <LeaveGroup
            member={{ userId: user.id, userName: user.name, groupId: leaving.id, groupName: leaving.displayName }}
            onClose={() => setLeaving(undefined)}
          />
        </LazyDialog>
      )}
    </Section>
  );
}
