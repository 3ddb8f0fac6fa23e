import { Alert, Group } from '@mantine/core';
import { useQuery } from '../api.ts';
import { WaitingSignUps } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProjectPath } from '../projects/project.tsx';
import { LinkButton } from '../ui/buttons.tsx';

/** Says how many people wait for an admin; nothing if no one does. */
export function WaitingSignUpsNotice({ projectId }: { projectId: string }) {
  const path = useProjectPath();
  const { data } = useQuery(WaitingSignUps, { projectId }, { everySeconds: 30 });
  const count = data?.signUpRequests.totalCount ?? 0;
  if (count === 0) return null;
  return (
    <Alert>
      <Group justify="space-between">
        {t('{count, plural, one {# person waits for approval.} other {# people wait for approval.}}', { count })}
        <LinkButton to={path('users/sign-ups')}>{t('Review requests')}</LinkButton>
      </Group>
    </Alert>
  );
}
