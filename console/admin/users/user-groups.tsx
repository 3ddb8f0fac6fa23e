import { Group, Pill, Text } from '@mantine/core';
import { Link } from 'react-router';
import { useQuery } from '../api.ts';
import { GroupsOfUser } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { Section } from '../ui/layout/page.tsx';

/** Groups of the user in the directory. */
export function UserGroups({ userId }: { userId: string }) {
  const project = useProject();
  const path = useProjectPath();
  const { data, failure, reload } = useQuery(GroupsOfUser, { projectId: project.id, userId });
  const groups = data?.groups;
  const more = groups ? groups.totalCount - groups.edges.length : 0;
  return (
    <Section title={t('Groups')} lead={t('Managed by the directory.')}>
      {failure && !groups ? (
        <LoadError failure={failure} subject={t('the list of groups')} retry={reload} />
      ) : groups?.edges.length === 0 ? (
        <Text c="dimmed">{t('In no group.')}</Text>
      ) : (
        <Group component="ul" gap="xs" mih="2rem" aria-busy={!groups}>
          {groups?.edges.map(({ node }) => (
            <Pill key={node.id} component="li" size="lg">
              <Link to={path(`groups/${node.id}`)}>{node.displayName}</Link>
            </Pill>
          ))}
          {more > 0 && <li>{t('and {count, number} more', { count: more })}</li>}
        </Group>
      )}
    </Section>
  );
}
